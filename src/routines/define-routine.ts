import type { ChatMigrations } from '../access/chat-migrations.ts';
import { decideSkill, type AccessContext } from '../access/decide-skill.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { isZone } from '../core/local-time.ts';
import type { Skill } from '../core/skill.ts';
import type { Requester } from '../core/tool.ts';
import type { Clock } from '../lib/clock.ts';
import { oneLine } from '../lib/text/text.ts';
import type { CatchUp, Routine, RoutineDefinition, RoutineTime } from '../store/routines.ts';
import type { Store } from '../store/store.ts';
import { shortestGap } from './due-times.ts';
import { readWhen } from './read-when.ts';
import { plainName } from './routine-message.ts';

export type BookDeps = Readonly<{
  runtime: () => Pick<RuntimeConfig, 'config' | 'rules'>;
  store: Pick<Store, 'routines' | 'fire' | 'signals' | 'outbox'>;
  migrations: Pick<ChatMigrations, 'current' | 'original'>;
  audit: Pick<Audit, 'record'>;
  clock: Pick<Clock, 'now'>;
  library: Readonly<{ current(): Readonly<{ get(name: string): Skill | undefined }> }>;
  accessOf: AccessContext;
  isOwner(sender: string): Promise<boolean>;
}>;

/** More often needs an approver (N3). */
const shortestGapMs = 15 * 60_000;

/** As a person asks for it; what is absent stays as it is. */
export type RoutineWish = Readonly<{
  when?: string | undefined;
  task?: string | undefined;
  name?: string | undefined;
  timezone?: string | undefined;
  reminder?: boolean | undefined;
  quiet?: boolean | undefined;
  skill?: string | undefined;
  catch_up?: CatchUp | undefined;
}>;

/** `problem` is for the model, with the fix. */
export type Booked = Readonly<
  | { ok: true; routine: Routine }
  | { ok: false; code: 'ARGUMENTS_INVALID' | 'LIMIT_REACHED' | 'SKILL_NOT_AVAILABLE_HERE'; problem: string }
>;

type Refused = Extract<Booked, { ok: false }>;

/** Whether the times that are wished for need an approver. Wrong ones are refused later. */
export async function isTooOften(wish: RoutineWish, requester: Requester, deps: BookDeps): Promise<boolean> {
  const zone = await zoneFor(wish, requester, deps);
  if (wish.when === undefined || zone === undefined || !isZone(zone)) return false;
  const now = deps.clock.now();
  const read = readWhen(wish.when, { zone, now });
  return read.ok && (shortestGap(read.when, zone, now) ?? Infinity) < shortestGapMs;
}

export type Defined = Readonly<{ ok: true; definition: RoutineDefinition }> | Refused;

export async function defineRoutine(
  wish: RoutineWish,
  before: RoutineDefinition | undefined,
  requester: Requester,
  deps: BookDeps,
): Promise<Defined> {
  const now = deps.clock.now();
  const zone = wish.timezone ?? before?.timezone ?? (await zoneFor(wish, requester, deps));
  if (zone === undefined)
    return refused(
      'ARGUMENTS_INVALID',
      'I do not know this person’s time zone. Ask them for their city, then call again with timezone, such as "Europe/Zurich".',
    );
  if (!isZone(zone))
    return refused(
      'ARGUMENTS_INVALID',
      `"${oneLine(zone, 60)}" is no time zone. Write one such as "Europe/Zurich" or "America/New_York".`,
    );
  const when = whenOf(wish, before, zone, now);
  if (!when.ok) return refused('ARGUMENTS_INVALID', when.problem);
  const skill = wish.skill ?? before?.skill;
  const problem = skill === undefined ? undefined : await skillProblem(skill, requester, deps);
  if (problem !== undefined) return problem;
  const task = wish.task ?? before?.task ?? '';
  const { sender: id, name = id, kind, language, conversation, chatType, external } = requester;
  const fresh = { conversation, chatType, external, creator: { id, name, kind, language, timezone: zone } };
  const { conversation: place, ...origin } = before ?? { ...fresh, createdAt: now };
  return {
    ok: true,
    definition: {
      ...origin,
      conversation: place,
      creator: { ...origin.creator, timezone: zone },
      name: plainName(wish.name ?? before?.name ?? task.split(/[.\n]/)[0] ?? task) || 'Routine',
      when: when.when,
      timezone: zone,
      task,
      reminder: flag(wish.reminder, before?.reminder),
      quiet: flag(wish.quiet, before?.quiet),
      catchUp: wish.catch_up ?? before?.catchUp ?? 'one',
      skill,
    },
  };
}

function whenOf(
  wish: RoutineWish,
  before: RoutineDefinition | undefined,
  zone: string,
  now: number,
): Readonly<{ ok: true; when: RoutineTime } | { ok: false; problem: string }> {
  if (wish.when !== undefined || before === undefined) return readWhen(wish.when ?? '', { zone, now });
  return { ok: true, when: before.when };
}

function flag(wished: boolean | undefined, before: true | undefined): true | undefined {
  return (wished ?? before) === true ? true : undefined;
}

/** Theirs by the platform, by what they said before, or the bot's (N2). */
async function zoneFor(
  wish: RoutineWish,
  { sender, timezone }: Requester,
  { store, runtime }: BookDeps,
): Promise<string | undefined> {
  const said = wish.timezone ?? timezone;
  if (said !== undefined) return said;
  const own = (await store.routines.of(sender)).findLast(({ definition }) => definition.fromConfig !== true);
  return own?.definition.timezone ?? runtime().config.bot.timezone;
}

/** It could not fire: better said now (N3). */
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
