import type { ChatMigrations } from '../../access/chat-migrations.ts';
import { decideSkill, type AccessContext } from '../../access/decide-skill.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import type { Users } from '../../access/users.ts';
import { isZone, systemZone } from '../../core/local-time.ts';
import { joinTaint } from '../../core/entry.ts';
import type { Provenance } from '../../core/provenance.ts';
import type { Skill } from '../../core/skill.ts';
import type { Requester } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { CatchUp, Routine, RoutineDefinition } from '../../store/routines.ts';
import type { Store } from '../../store/store.ts';
import { shortestGap } from './due-times.ts';
import { readWhen } from './read-when.ts';
import { plainName } from './routine-message.ts';

export type BookDeps = Readonly<{
  runtime: () => RuntimeConfig;
  store: Store;
  migrations: ChatMigrations;
  audit: Audit;
  clock: Clock;
  library: Readonly<{ current(): Readonly<{ get(name: string): Skill | undefined }> }>;
  accessOf: AccessContext;
  users: Users;
}>;

/** A routine that fires more often than this needs an approver (N3). */
const shortestGapMs = 15 * 60_000;

/** What a person asks for. Undefined fields stay as they are. */
export type RoutineWish = Readonly<{
  when?: string | undefined;
  task?: string | undefined;
  name?: string | undefined;
  timezone?: string | undefined;
  reminder?: boolean | undefined;
  quiet?: boolean | undefined;
  skill?: string | undefined;
  catch_up?: CatchUp | undefined;
  /** Whose words the task and the name are (S13). */
  from?: Provenance | undefined;
}>;

/** `problem` is for the model and says how to fix it. */
export type Booked = Readonly<
  | { ok: true; routine: Routine }
  | { ok: false; code: 'ARGUMENTS_INVALID' | 'LIMIT_REACHED' | 'SKILL_NOT_AVAILABLE_HERE'; problem: string }
>;

type Refused = Extract<Booked, { ok: false }>;

/** Whether the wished times need an approver. Times that can't be read are refused later. */
export async function isTooOften(wish: RoutineWish, requester: Requester, deps: BookDeps): Promise<boolean> {
  const zone = (await zoneFor(wish, requester, deps)) ?? systemZone();
  if (wish.when === undefined || !isZone(zone)) return false;
  const now = deps.clock.now();
  const read = readWhen(wish.when, { zone, now });
  return read.ok && (shortestGap(read.when, read.zone ?? zone, now) ?? Infinity) < shortestGapMs;
}

export type Defined = Readonly<{ ok: true; definition: RoutineDefinition }> | Refused;

export async function defineRoutine(
  wish: RoutineWish,
  before: RoutineDefinition | undefined,
  requester: Requester,
  deps: BookDeps,
): Promise<Defined> {
  const now = deps.clock.now();
  const known = await zoneFor(wish, requester, deps);
  if (known !== undefined && !isZone(known))
    return refused(
      'ARGUMENTS_INVALID',
      `"${oneLine(known, 60)}" is no time zone. Write one such as "Europe/Zurich" or "America/New_York".`,
    );
  const kept = wish.timezone ?? (before?.creator.timezone === undefined ? undefined : before.timezone);
  const time = timeOf(wish, before, { zone: kept ?? known, now });
  if (!time.ok) return refused('ARGUMENTS_INVALID', time.problem);
  const skill = wish.skill ?? before?.skill;
  const problem = skill === undefined ? undefined : await skillProblem(skill, requester, deps);
  if (problem !== undefined) return problem;
  const task = wish.task ?? before?.task ?? '';
  const { sender: id, name = id, kind, language, conversation, chatType, external } = requester;
  const creator = { id, name, kind, language, timezone: known };
  const origin = before ?? { conversation, chatType, external, creator, createdAt: now };
  return {
    ok: true,
    definition: {
      ...origin,
      creator: { ...origin.creator, timezone: origin.creator.timezone ?? known },
      name: plainName(wish.name ?? before?.name ?? task.split(/[.\n]/)[0] ?? task) || 'Routine',
      when: time.when,
      timezone: time.zone,
      assumed: time.assumed,
      task,
      reminder: flag(wish.reminder, before?.reminder),
      quiet: flag(wish.quiet, before?.quiet),
      catchUp: wish.catch_up ?? before?.catchUp ?? 'one',
      skill,
      from: fromOf(wish, before?.from),
    },
  };
}

type Time = Pick<RoutineDefinition, 'when' | 'assumed'> & Readonly<{ zone: string }>;

/**
 * Reads the time. Only times by the clock need a time zone: if none is known, the machine's is assumed and the person
 * is asked (U20).
 */
function timeOf(
  { when, timezone }: RoutineWish,
  before: RoutineDefinition | undefined,
  { zone: known, now }: Readonly<{ zone: string | undefined; now: number }>,
): Readonly<{ ok: true } & Time> | Readonly<{ ok: false; problem: string }> {
  if (when === undefined && before !== undefined) {
    const { assumed } = before;
    if (timezone === undefined || assumed === undefined)
      return { ok: true, when: before.when, zone: timezone ?? before.timezone, assumed };
    const read = readWhen(assumed.when, { zone: timezone, now: assumed.at });
    return { ok: true, when: read.ok ? read.when : before.when, zone: timezone };
  }
  const zone = known ?? systemZone();
  const read = readWhen(when ?? '', { zone, now });
  if (!read.ok) return read;
  const isGuess = known === undefined && read.byClock && read.zone === undefined;
  const assumed = isGuess ? { when: when ?? '', at: now } : undefined;
  return { ok: true, when: read.when, zone: read.zone ?? zone, assumed };
}

/**
 * Whose words the routine has after a change. If the person typed only the task or only the name, the other one keeps
 * the routine from counting as their own words (S13). Taint always stays.
 */
function fromOf(
  { from: now, task, name }: RoutineWish,
  before: Provenance | undefined,
): RoutineDefinition['from'] | undefined {
  if (now === undefined || before === undefined) return now ?? before;
  const isReplaced = task !== undefined && name !== undefined;
  const words = now.words === 'typed' && !isReplaced ? before : now;
  return { ...words, taint: joinTaint(now.taint, before.taint) };
}

function flag(wished: boolean | undefined, before: true | undefined): true | undefined {
  return (wished ?? before) === true ? true : undefined;
}

/**
 * The person's time zone: what they say now, chose, or have on the platform; otherwise that of an earlier routine of
 * theirs; otherwise the bot's (U20). Undefined: none is known.
 */
export async function zoneFor(
  wish: RoutineWish,
  { sender, timezone }: Requester,
  { store, runtime, users }: BookDeps,
): Promise<string | undefined> {
  const said = wish.timezone ?? (await users.timezoneOf(sender)) ?? timezone;
  if (said !== undefined) return said;
  const own = await store.routines.of(sender);
  const earlier = own.findLast(
    ({ definition }) => definition.fromConfig !== true && definition.creator.timezone !== undefined,
  );
  return earlier?.definition.creator.timezone ?? runtime().config.bot.timezone;
}

/** A skill that may not be used here could not fire, so this is said now (N3). */
async function skillProblem(
  name: string,
  requester: Requester,
  deps: BookDeps,
): Promise<Refused | undefined> {
  const skill = deps.library.current().get(name);
  const use = {
    ...(await deps.accessOf({ ...requester, sender: { id: requester.sender } })),
    by: 'model',
  } as const;
  if (skill !== undefined && decideSkill(skill, deps.runtime().rules, use).allowed) return undefined;
  return refused(
    'SKILL_NOT_AVAILABLE_HERE',
    `The skill ${oneLine(name, 60)} can not be used by this person here. Sensitive skills work only in a direct message.`,
  );
}

export function refused(code: Refused['code'], problem: string): Refused {
  return { ok: false, code, problem };
}
