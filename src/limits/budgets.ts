import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';
import { pricesOf } from '../config/model-prices.ts';
import { chatIdOf, conversationKey } from '../core/conversation.ts';
import { localDay, operatorZone, untilNextDay } from '../core/local-time.ts';
import { aliasInStats, asPriced, resolveModel, type Tokens } from '../core/model.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import type { Requester } from '../core/tool.ts';
import type { Clock } from '../lib/clock.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Store, UsageRow } from '../store/store.ts';

/** Enforces `[limits]` per sender, chat, skill and in total (U10). */
export type Budgets = Readonly<{
  /** Returns a sentence for the person if a budget of today is used up; undefined if the message is allowed. */
  ofMessage(requester: Requester): Promise<string | undefined>;
  /**
   * Returns a sentence for the model if a limit is reached; undefined if the run is allowed. A run that is allowed
   * counts towards the hourly limit, once per `id`.
   */
  ofRun(requester: Requester, skill: string, id: string): Promise<string | undefined>;
  /**
   * Returns a check of the limit of runs at the same time. Call it in the step that adds the run, with the items under
   * way then.
   */
  atOnce(requester: Requester, skill: string): (underWay: readonly ListedItem[]) => string | undefined;
  /** Returns a sentence for the person if a budget of today is used up; undefined if the model may be called. */
  ofModel(requester: Requester, skill: string | undefined): Promise<string | undefined>;
  today(sender: string): Promise<Spent>;
}>;

/** The usage of one day. `usd` covers only models whose prices are known. */
export type Spent = Readonly<{ tokens: number; usd: number }>;

type Limits = Config['limits']['chat'];
type Scope = Readonly<{
  key: string;
  /** The owner of the limit as a sentence begins with it: `Your`, `This chat’s`. */
  whose: string;
  limits: Limits;
  sum: SumKey;
  isFor(task: Readonly<{ sender: string; chat: string; skill: string }>): boolean;
}>;

type SumKey = `sender ${string}` | `room ${string}` | `skill ${string}` | 'all';
type Sums = ReadonlyMap<SumKey, Spent>;

const hourMs = 3_600_000;
/** Messages may use sums this old, as usage is known only later; runs read them fresh. */
const staleMs = 1_000;

type BudgetOptions = Readonly<{
  config: () => Config;
  store: Pick<Store, 'usage' | 'countUse'> & Readonly<{ inbox: Pick<Store['inbox'], 'beside'> }>;
  clock: Clock;
}>;

export function createBudgets(options: BudgetOptions): Budgets {
  const { config, store, clock } = options;
  const sumsToday = createSumsToday(options);

  /** Returns the sentence for the first daily budget that is used up; undefined if none is. */
  async function spentUp(
    scopes: readonly Scope[],
    mayBeStale: boolean,
    language?: string,
  ): Promise<string | undefined> {
    const limited = scopes.filter(({ limits }) => limits.tokensPerDay > 0 || limits.usdPerDay > 0);
    if (limited.length === 0) return undefined;
    const sums = await sumsToday(mayBeStale);
    const say = sayIn(language);
    for (const { whose, limits, sum } of limited) {
      const budget = usedUp(limits, sums.get(sum) ?? nothing, say);
      if (budget === undefined) continue;
      const wait = waitText(untilNextDay(clock.now(), operatorZone(config())), say);
      return spentText(say, { whose, of: sum.split(' ', 1)[0] ?? '', budget, wait });
    }
    return undefined;
  }

  async function tooManyThisHour(scopes: readonly Scope[], id: string): Promise<string | undefined> {
    const limited = scopes.filter(({ limits }) => limits.runsPerHour > 0);
    const over = await store.countUse(
      id,
      limited.map(({ key, limits }) => ({ key: hashed(key), most: limits.runsPerHour, ms: hourMs })),
    );
    const full = limited.find(({ key }) => hashed(key) === over?.key);
    if (over === undefined || full === undefined) return undefined;
    return `${full.whose} limit of ${full.limits.runsPerHour} runs an hour is reached: there is room ${waitText(over.freeAt - clock.now(), sayIn(undefined))}.`;
  }

  return {
    ofMessage: (requester) => spentUp(scopesOf(config().limits, requester), true, requester.language),
    ofModel: (requester, skill) => spentUp(scopesOf(config().limits, requester, skill), false),
    async ofRun(requester, skill, id) {
      const scopes = scopesOf(config().limits, requester, skill);
      return (
        (await spentUp(scopes, false)) ??
        tooManyAtOnce(scopes, await store.inbox.beside()) ??
        (await tooManyThisHour(scopes, id))
      );
    },
    atOnce: (requester, skill) => (underWay) =>
      tooManyAtOnce(scopesOf(config().limits, requester, skill), underWay),
    async today(sender) {
      const rows = await store.usage({ day: localDay(clock.now(), operatorZone(config())), sender });
      return sumsOf(rows, config()).get('all') ?? nothing;
    },
  };
}

/** Reads the sums of today. Stale ones save a read of the store for each message. */
function createSumsToday({ config, store, clock }: BudgetOptions): (mayBeStale: boolean) => Promise<Sums> {
  let read: Readonly<{ day: string; at: number; sums: Promise<Sums> }> | undefined;

  return (mayBeStale) => {
    const now = clock.now();
    const day = localDay(now, operatorZone(config()));
    if (!mayBeStale || read?.day !== day || now - read.at >= staleMs)
      read = { day, at: now, sums: store.usage({ day }).then((rows) => sumsOf(rows, config())) };
    return read.sums;
  };
}

const nothing: Spent = { tokens: 0, usd: 0 };

function scopesOf(
  limits: Config['limits'],
  { sender, conversation }: Requester,
  skill?: string,
): readonly Scope[] {
  const { chat, skill: ofSkill, global, ...own } = limits;
  const place = chatIdOf(conversation);
  const room = conversationKey({ channel: conversation.channel, chat: conversation.chat });
  return [
    {
      key: `sender ${sender}`,
      whose: 'Your',
      limits: own,
      sum: `sender ${sender}`,
      isFor: (task) => task.sender === sender,
    },
    {
      key: `chat ${place}`,
      whose: 'This chat’s',
      limits: chat,
      sum: `room ${room}`,
      isFor: (task) => task.chat === place,
    },
    ...(skill === undefined
      ? []
      : [
          {
            key: `skill ${skill}`,
            whose: `The skill ${skill}’s`,
            limits: ofSkill,
            sum: `skill ${skill}` as const,
            isFor: (task: Readonly<{ skill: string }>) => task.skill === skill,
          },
        ]),
    { key: 'all', whose: 'My', limits: global, sum: 'all', isFor: () => true },
  ];
}

/** Adds up all scopes in one pass, because there are many rows and each message reads them. */
function sumsOf(rows: readonly UsageRow[], config: Config): Sums {
  const sums = new Map<SumKey, Spent>();
  for (const row of rows) {
    const { sender, conversation, skill, model } = row;
    const tokens = count(row.tokens);
    const usd = costOf(config, model, row.tokens) ?? 0;
    // Threads count towards their room, whose key has no "/".
    const [room = ''] = conversation.split('/', 1);
    for (const key of [`sender ${sender}`, `room ${room}`, `skill ${skill}`, 'all'] as const) {
      const before = sums.get(key) ?? nothing;
      sums.set(key, { tokens: before.tokens + tokens, usd: before.usd + usd });
    }
  }
  return sums;
}

/** The daily budget that is used up; undefined if none is. */
function usedUp({ tokensPerDay, usdPerDay }: Limits, { tokens, usd }: Spent, say: Say): string | undefined {
  if (tokensPerDay > 0 && tokens >= tokensPerDay) return say`${say.number(tokensPerDay)} tokens`;
  if (usdPerDay === 0 || usd < usdPerDay) return undefined;
  return say`${say.number(usdPerDay, Number.isInteger(usdPerDay) ? 0 : 2)} US dollars`;
}

function tooManyAtOnce(scopes: readonly Scope[], underWay: readonly ListedItem[]): string | undefined {
  const limited = scopes.filter(({ limits }) => limits.concurrentRuns > 0);
  const tasks = underWay.flatMap(({ message }) =>
    message?.task?.kind === 'run'
      ? [
          {
            sender: message.sender.id,
            chat: chatIdOf(message.conversation),
            skill: message.task.skill,
          },
        ]
      : [],
  );
  const full = limited.find(({ limits, isFor }) => tasks.filter(isFor).length >= limits.concurrentRuns);
  if (full === undefined) return undefined;
  return `${full.whose} limit of ${full.limits.concurrentRuns} runs at the same time is reached. There is room when one of them has ended.`;
}

function count({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

/** Keys are stored as hashes that reveal no person, so `/forget` has nothing to remove. */
function hashed(key: string): string {
  return createHash('sha256').update(`runs ${key}`).digest('hex').slice(0, 32);
}

function spentText(
  say: Say,
  { whose, of, budget, wait }: Readonly<{ whose: string; of: string; budget: string; wait: string }>,
): string {
  switch (of) {
    case 'sender':
      return say`Your budget of ${budget} a day is used up. It resets ${wait}.`;
    case 'room':
      return say`This chat’s budget of ${budget} a day is used up. It resets ${wait}.`;
    case 'all':
      return say`My budget of ${budget} a day is used up. It resets ${wait}.`;
    // Only a model reads it and passes it on in its own words, so it stays English.
    default:
      return `${whose} budget of ${budget} a day is used up. It resets ${wait}.`;
  }
}

function waitText(ms: number, say: Say): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const hours = Math.floor(minutes / 60);
  const left = minutes % 60;
  if (hours === 0) return say`in ${left} min`;
  return left === 0 ? say`in ${hours} h` : say`in ${hours} h ${left} min`;
}

/** US dollars by the prices of the alias or the list price; undefined if neither is known. */
/** What the tokens of a model cost, in US dollars. Undefined: it has no price. `model` is its name in statistics. */
export function costOf({ models }: Config, model: string, tokens: Tokens): number | undefined {
  const settings = resolveModel(models, aliasInStats(model));
  const prices = settings && pricesOf(settings);
  if (prices === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = asPriced(tokens);
  return (
    (input * prices.in +
      output * prices.out +
      cacheRead * prices.cacheRead +
      cacheWrite * prices.cacheWrite) /
    1_000_000
  );
}
