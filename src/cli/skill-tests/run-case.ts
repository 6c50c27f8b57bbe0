import { openFolders } from '../../folders/open-folders.ts';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Audit } from '../../audit/create-audit.ts';
import { createBot } from '../../bot/create-bot.ts';
import { createCaseChannel } from './case-channel.ts';
import type { CaseRun } from './judge-case.ts';
import type { Exchange } from './model-tape.ts';
import type { Config } from '../../config/complete-config.ts';
import type { AccessSettings } from '../../core/access-settings.ts';
import { parseCommand, type Message } from '../../core/message.ts';
import type { Meter } from '../../core/meter.ts';
import type { Models, Tokens } from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { openHealth } from '../../operator/health/open-health.ts';
import type { Plugins } from '../../features/plugins/plugins.ts';
import type { SkillSandbox } from '../../skills/open-library.ts';
import type { SkillCase } from '../../skills/skill-cases.ts';
import type { SkillLibrary } from '../../skills/skill-library.ts';
import { createWrittenSkills, type WrittenSkill } from '../../skills/written-skills.ts';
import { createToldPeople } from '../../replies/told-people.ts';
import { openStore } from '../../store/open-store.ts';

/** What the cases of a skill share. */
export type CaseGround = Readonly<{
  config: Config;
  /** The folder of the tested skill, which `files` of a case lie in. */
  skillFolder: string;
  env: Readonly<Record<string, string | undefined>>;
  library: SkillLibrary;
  skillSandbox: SkillSandbox;
  plugins: Plugins;
  /** What is stored of the skills that the bot wrote, and which version of each is approved. */
  written: readonly WrittenSkill[];
  clock: Clock;
  log: Log;
}>;

/** An audit that records nothing, for work that leaves no trace. */
export const noAudit: Audit = {
  record: async () => undefined,
  holds: async () => false,
  verify: async () => ({ lines: 0, files: 0, problems: [] }),
  exportTo: async () => ({ lines: 0, withheld: 0, problems: [] }),
  publicKey: async () => '',
  prune: async () => undefined,
  tail: async () => [],
  since: async () => [],
  meetings: async () => [],
  forget: async () => undefined,
  settled: async () => undefined,
};

/** How many characters of a call a model that judges is shown. */
const mostOfCall = 500;

/** The person who writes if a case names nobody. */
const author = 'terminal:owner';

/**
 * Runs a case with a bot of its own (L3): the real agent with a store in memory. `heard` is filled with what the models
 * are asked.
 */
export async function runCase(
  { config, skillFolder, env, library, skillSandbox, plugins, written, clock, log }: CaseGround,
  one: SkillCase,
  makeModels: (config: Config) => Models,
  heard: Readonly<{ exchanges: readonly Exchange[]; failures: readonly string[] }>,
): Promise<CaseRun> {
  const sender = one.sender ?? author;
  const [name = 'terminal', person = sender] = sender.split(/:(.*)/s);
  const { channel, say, shown, sentFiles } = createCaseChannel(
    name,
    { ...one, sender: { id: sender, name: person, kind: 'person' } },
    { approve: one.approve, skillFolder },
  );
  const faults: string[] = [];
  const used: { skill: string; status: string }[] = [];
  const store = await openStore('sqlite::memory:', { log });
  await createToldPeople(store).add(sender);
  const health = await openHealth({ store, clock, log });
  for (const record of written) await createWrittenSkills(store).set(record);
  const bot = createBot({
    // Foreign servers are not tested.
    config: { ...config, mcp: {} },
    folders: await openFolders(config, store, log),
    library: { ...library, watch: () => undefined },
    skillSandbox,
    plugins,
    channels: [channel],
    makeModels,
    terminals: {
      changeAccess: (access) => admitting(access, sender),
      canAsk: () => one.approve !== undefined,
      mostTries: () => 1,
      onDead: () => faults.unshift('it could not be answered'),
      onFailed: () => undefined,
    },
    host: {
      store,
      health: { ...health.ofStore, readiness: health.readiness },
      audit: noAudit,
      meter: meterOf(used),
      env,
      clock,
      log: noting(log, faults),
    },
  });
  const signal = new AbortController();
  const late = clock.sleep(one.timeoutSeconds * 1_000, signal.signal).then(
    () => true,
    () => false,
  );
  try {
    await bot.start();
    await say(messageOf(one, { channel: name, person, sender, now: clock.now() }));
    const isLate = await Promise.race([bot.idle().then(() => false), late]);
    if (isLate) faults.unshift(`it was not answered within ${one.timeoutSeconds} s`);
  } finally {
    signal.abort();
    await bot.stop();
    await store.close();
  }
  const { exchanges, failures } = heard;
  const told = [...new Set([...faults, ...failures])];
  const result = resultOf(one.skill, exchanges);
  return {
    used: [...used, ...followedInline(used, exchanges)],
    called: exchanges.flatMap((exchange) =>
      exchange.run === undefined ? [] : callsOf(exchange).map((call) => call.name),
    ),
    result,
    answer: shown().join('\n\n'),
    files: sentFiles(),
    calls: exchanges
      .flatMap(callsOf)
      .map(({ name: tool, input }) => `${tool} ${JSON.stringify(input)}`.slice(0, mostOfCall)),
    tokens: exchanges.reduce((sum, { answer }) => sum + sizeOf(answer.tokens), 0),
    fault: told.length === 0 ? undefined : told.join(': '),
  };
}

function messageOf(
  one: SkillCase,
  {
    channel,
    person,
    sender,
    now,
  }: Readonly<{ channel: string; person: string; sender: string; now: number }>,
): Message {
  const chat = one.chat?.replace(`${channel}:`, '') ?? (one.chatType === 'private' ? person : 'test-chat');
  const command = parseCommand(one.message);
  return {
    id: `${channel}:${randomUUID()}`,
    conversation: { channel, chat },
    chatType: one.chatType,
    external: one.external,
    sender: { id: sender, name: person, kind: 'person' },
    text: one.message,
    addressed: true,
    command: command === undefined ? undefined : { name: command.name, args: command.args },
    attachments: one.files.map((file) => ({
      kind: /\.(?:png|jpe?g|gif|webp)$/i.test(file) ? 'photo' : 'document',
      name: path.basename(file),
      ref: file,
    })),
    sentAt: now,
  };
}

/** Access rules by which everybody may talk, because cases test what people may use. */
function admitting(access: AccessSettings, sender: string): AccessSettings {
  return {
    owners: sender === author ? [...access.owners, author] : access.owners,
    general: { users: [sender], groupsMode: 'open', dm: 'open', mention: 'always' },
    channels: new Map(),
    chats: new Map(),
    allowExternal: true,
  };
}

function meterOf(used: { skill: string; status: string }[]): Meter {
  return {
    count(name, labels) {
      if (name !== 'runs') return;
      const { skill, status } = labels as Readonly<{ skill: string; status: string }>;
      used.push({ skill, status });
    },
    turn: () => undefined,
  };
}

/** A log that also keeps errors as faults of the case. */
function noting(log: Log, faults: string[]): Log {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error(fields, message) {
      const { err } = fields as { err?: unknown };
      faults.push(err instanceof Error ? err.message : message);
      log.error(fields, message);
    },
  };
}

/** Skills that the main agent follows itself, without a run (U8, I6). */
function followedInline(runs: CaseRun['used'], exchanges: readonly Exchange[]): CaseRun['used'] {
  const main = exchanges.filter(({ run }) => run === undefined);
  const asked = main.map((exchange) => exchange.asked);
  const failed = new Set(asked.flatMap(failedCalls));
  const byModel = main.flatMap(callsOf).flatMap(({ id, name, input }) => {
    const { skill } = input as { skill?: unknown };
    return name === 'use_skill' && typeof skill === 'string' && !failed.has(id) ? [skill] : [];
  });
  const byPerson = [...JSON.stringify(asked).matchAll(/\[Skill: ([^\]\\]+)\]/g)].map(([, name = '']) => name);
  return [...byPerson, ...byModel]
    .filter((name) => !runs.some(({ skill }) => skill === name))
    .map((skill) => ({ skill, status: 'ok' }));
}

function sizeOf({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

function failedCalls(asked: Exchange['asked']): readonly string[] {
  const blocks = typeof asked?.content === 'string' ? [] : (asked?.content ?? []);
  return blocks.flatMap((block) =>
    block.type === 'tool_result' && block.is_error === true ? [block.tool_use_id] : [],
  );
}

function callsOf({ answer }: Exchange): readonly Readonly<{ id: string; name: string; input: unknown }>[] {
  return answer.content.filter((block) => block.type === 'tool_use');
}

function resultOf(skill: string | undefined, exchanges: readonly Exchange[]): string | undefined {
  const runs = exchanges.filter(({ run }) => run !== undefined && (skill === undefined || run === skill));
  const last = runs.findLast((exchange) => callsOf(exchange).length === 0);
  const texts = last?.answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts?.join('');
}
