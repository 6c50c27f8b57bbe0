import path from 'node:path';
import { z } from 'zod';
import type { PairingRequest } from '../access/pairing.ts';
import { auditKinds, auditPerson } from '../audit/audit-event.ts';
import { exportFormats } from '../audit/export-formats.ts';
import { matchLines, withoutDirectArguments } from '../audit/match-lines.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';
import { removePlaceholder } from '../conversations/placeholder.ts';
import { OperatorError } from '../core/errors.ts';
import { changes, noInput, reads, textInput, type OnProgress } from '../core/operation.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { skilletVersion } from '../core/version.ts';
import type { FeatureOperations } from '../features/list.ts';
import { accessDecisions, writer } from './access/access-decisions.ts';
import { namedGroups } from './access/named-groups.ts';
import { toLetter } from './direct-words.ts';
import { holdOperations } from './hold-operations.ts';
import { listWork } from './list-work.ts';
import { knownNames } from './look/known-names.ts';
import { skillQuality } from './look/skill-quality.ts';
import { skillRows, skillText } from './look/skill-rows.ts';
import { listTurns } from './look/list-turns.ts';
import type { OperateDeps } from './operate-deps.ts';
import { readRecordedTurn, sampleAsked, sampleTurns, turnAsked } from './rehearse/recorded-turns.ts';
import { readRehearsalRecord } from './rehearse/rehearsal-record.ts';
import { statusOf, tasksOf } from './status-of.ts';

const installed = z.object({
  source: textInput,
  commit: textInput.optional(),
  skills: z.array(textInput).readonly(),
});
const auditPersonId = z
  .string()
  .regex(auditPerson, { error: 'write a whole id, such as "telegram:42"' })
  .optional();
const isoTime = z.iso.datetime({ error: 'write a time such as "2026-11-24T00:00:00Z"' }).optional();
const writeLines = 'write how many lines, such as 20';
const writeSkill = 'write the name of a skill';
/** How many of the newest lines a filter looks through. */
const mostSearched = 20_000;
const auditLines = z.object(
  {
    lines: z.int({ error: writeLines }).positive({ error: writeLines }),
    person: auditPersonId,
    skill: z.string({ error: writeSkill }).min(1, { error: writeSkill }).optional(),
    since: isoTime,
    kind: z.enum(auditKinds, { error: `write one of ${auditKinds.join(', ')}` }).optional(),
  },
  { error: 'write an object with "lines", such as { "lines": 20 }' },
);
const newFile = textInput.refine(
  path.isAbsolute,
  'write an absolute path: the bot may run in another folder',
);
const auditExport = z.object({
  file: newFile,
  format: z.enum(exportFormats),
  since: isoTime,
  until: isoTime,
  person: auditPersonId,
});
const rehearsedSince = z.iso.datetime({ error: 'write a time such as "2026-11-24T00:00:00Z"' });
const turnsAsked = z.object({ conversation: textInput, most: z.int().min(1).max(200) });
/** What an operator can ask of a bot or of its store: by the command line, the control socket, or a page. */
export function ownOperations(deps: OperateDeps) {
  const { store, audit, users, pairing, groups } = deps;
  return {
    'pair list': reads(noInput, async () => ({
      pending: await pairing.pending(),
      paired: await users.paired(),
      owners: await users.owners(),
      groups: await users.allowedGroups(),
      ignored: await groups.ignored(),
    })),
    'pair claim': changes(noInput, async () => {
      if ((await users.owners()).length > 0)
        throw new OperatorError('this bot has an owner: others are named under [bot] owner in config.toml');
      return { claim: `start claim_${await pairing.newOwnerToken()}` };
    }),
    'pair approve': changes(textInput, async (code) => {
      const request = found(await pairing.approve(code), code);
      await deps.welcome(request);
      return request;
    }),
    'pair deny': changes(textInput, async (code) => found(await pairing.deny(code), code)),
    'pair revoke': changes(textInput, async (id) => {
      if (!(await pairing.revoke(id)) && !(await groups.revoke(id)))
        throw new OperatorError(
          `${id} is neither paired nor a group that was decided on: see \`${skilletHere()} pair list\``,
        );
      return { revoked: id };
    }),

    'inbox list': reads(z.enum(['dead', 'waiting']), async (state) =>
      (await store.inbox.list(state)).map(toLetter),
    ),
    'inbox retry': changes(textInput, async (key) => {
      if (!(await store.inbox.retry(key)))
        throw new OperatorError(`there is no dead letter ${key}: see \`${skilletHere()} inbox list\``);
      return { retried: key };
    }),
    'inbox drop': changes(textInput, async (key) => {
      const { inbox } = store;
      const items = [...(await inbox.list('waiting')), ...(await inbox.list('dead'))];
      const item = items.find((one) => one.key === key);
      // The placeholder goes first: if this is cut off, the operator can drop the item again.
      if (item !== undefined) await removePlaceholder(item, store);
      if (!(await inbox.drop(key)))
        throw new OperatorError(
          `no message waits or failed under ${key}: see \`${skilletHere()} inbox list\``,
        );
      return { dropped: key };
    }),
    'outbox list': reads(noInput, () => store.outbox.givenUp()),
    'outbox retry': changes(textInput, async (key) => {
      if (!(await store.outbox.revive(key)))
        throw new OperatorError(`there is no failed delivery ${key}: see \`${skilletHere()} outbox list\``);
      return { retried: key };
    }),

    /** Copies the store, if it is a file. */
    backup: changes(newFile, async (file, onProgress) => {
      return { copied: await store.backup(file, onProgress) };
    }),
    forget: changes(textInput, (sender) => deps.forget(sender)),
    ...holdOperations(deps),
    /** Writes everything that is stored of a person into a new archive. */
    'person export': changes(z.object({ person: textInput, file: newFile }), (of) => deps.exportPerson(of)),
    /** Sums of this day (in the operator's time zone) and of the days after it. */
    stats: reads(z.iso.date(), (first) => store.stats(first)),

    /** Counts thumbs by skill and version. */
    'skill quality': reads(noInput, async () => skillQuality(await store.feedback.list())),

    /** Lists messages and runs that are not finished (S8). */
    'work list': reads(noInput, () => listWork(store)),
    /** Says what the rules decide about a person in a chat, and why (S8). */
    'access decisions': reads(writer, (of) => accessDecisions(of, deps)),
    /** Says who is in the groups that lists of people may name (A13). */
    'group list': reads(noInput, async () => {
      const { config, userGroups } = await deps.inForce();
      return namedGroups(config, userGroups);
    }),
    health: reads(noInput, async () => {
      const problem = await store.check().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const backlog = problem === undefined ? await store.backlog() : undefined;
      return { version: skilletVersion(), readiness: deps.running?.readiness(), problem, backlog };
    }),

    /** Names that take the place of ids on pages. */
    names: reads(noInput, () => knownNames(deps)),
    /** Skills by the rules in force. */
    'skill all': reads(noInput, async () => skillRows(await deps.inForce())),
    'skill text': reads(textInput, async (name) => skillText(name, await deps.inForce())),
    /** The newest turns of a conversation, without what anybody said (S8). */
    'turn list': reads(turnsAsked, ({ conversation, most }) => listTurns(conversation, most, deps)),
    status: reads(noInput, () => statusOf(deps)),
    tasks: reads(noInput, () => tasksOf(store)),
    'audit tail': reads(auditLines, async ({ lines, ...filter }) => {
      const isFiltered = Object.keys(filter).length > 0;
      const found = matchLines(await audit.tail(isFiltered ? mostSearched : lines), filter);
      return found.slice(-lines).map(withoutDirectArguments);
    }),
    /** What was done since a time, as far as a config decides about it, without words of anybody. */
    rehearse: reads(rehearsedSince, (since) => readRehearsalRecord(since, deps)),
    /** Chooses turns to be answered again, without their words (L20). */
    'rehearse sample': reads(sampleAsked, (asked) => sampleTurns(asked, deps)),
    /** A turn with its words, which only a rehearsal shows. Those of direct messages only if they are asked for (S8). */
    'rehearse turn': reads(turnAsked, (asked) => readRecordedTurn(asked, deps)),
    'audit verify': reads(noInput, () => audit.verify()),
    'audit key': reads(noInput, async () => ({ publicKey: await audit.publicKey() })),
    'audit export': changes(auditExport, (to) => audit.exportTo(to)),
    /** Records a change in the audit. The command line has already changed the folder. */
    'skills installed': changes(installed, async (of) => {
      await audit.record({ event: 'skills_installed', ...of });
      await deps.running?.followFiles();
    }),
    'skills removed': changes(installed, async (of) => {
      await audit.record({ event: 'skills_removed', ...of });
      await deps.running?.followFiles();
    }),
  };
}

type Operations = ReturnType<typeof ownOperations> & FeatureOperations;
export type OperationName = keyof Operations;
export type InputOf<Name extends OperationName> = z.output<Operations[Name]['input']>;
export type OutputOf<Name extends OperationName> = Awaited<ReturnType<Operations[Name]['run']>>;

/** What follows the name of an operation: its input if it has one, then who hears of its progress. */
export type Asked<Name extends OperationName> =
  undefined extends InputOf<Name>
    ? [input?: undefined, onProgress?: OnProgress]
    : [input: InputOf<Name>, onProgress?: OnProgress];

/** Runs an operation. Throws OperatorError if it fails. */
export type Operate = <Name extends OperationName>(
  name: Name,
  ...asked: Asked<Name>
) => Promise<OutputOf<Name>>;

/** The same function with the types of the table. */
export function typedOperate(answer: AnswerOperation): Operate {
  return answer as Operate;
}

function found(request: PairingRequest | undefined, code: string): PairingRequest {
  if (request === undefined)
    throw new OperatorError(
      `${code} is no valid pairing code (they last an hour): see \`${skilletHere()} pair list\``,
    );
  return request;
}
