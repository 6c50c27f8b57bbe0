import path from 'node:path';
import { z } from 'zod';
import type { PairingRequest } from '../access/pairing.ts';
import { auditKinds, auditPerson } from '../audit/audit-event.ts';
import { matchLines } from '../audit/match-lines.ts';
import { listRules } from '../features/approvals/standing-rules.ts';
import type { ApprovalOutcome } from '../features/authoring/approve-skill.ts';
import type { AnswerOperation, OnProgress } from '../channels/terminal/control.ts';
import { removePlaceholder } from '../conversations/progress.ts';
import { conversationKey } from '../core/conversation.ts';
import { OperatorError } from '../core/errors.ts';
import { skilletVersion } from '../core/version.ts';
import { memoriesOf } from '../features/memory/open-memory.ts';
import { removeTeamNote, teamNotes } from '../features/memory/team-notes.ts';
import { accessDecisions, writer } from './access/access-decisions.ts';
import { namedGroups } from './access/named-groups.ts';
import { isAskedDirectly, toLetter, toWaitingApproval, withoutDirectArguments } from './direct-words.ts';
import { listWork } from './list-work.ts';
import { changes, reads, target, unnamed, type OperateDeps } from './operation.ts';
import { routineOperations } from './routine-operations.ts';
import { statusOf, tasksOf } from './status-of.ts';
import { skilletHere } from '../core/skillet-here.ts';

const none = z.undefined();
const text = z.string().min(1).max(10_000);
const installed = z.object({ source: text, commit: text.optional(), skills: z.array(text).readonly() });
const account = z.object({ sender: text, capability: text, ref: text });
const approvalAnswer = z.object({ id: text, answer: z.enum(['approve', 'deny']), by: text });
const writeLines = 'write how many lines, such as 20';
const writeSkill = 'write the name of a skill';
/** How many of the newest lines a filter looks through. */
const mostSearched = 20_000;
const auditLines = z.object(
  {
    lines: z.int({ error: writeLines }).positive({ error: writeLines }),
    person: z.string().regex(auditPerson, { error: 'write a whole id, such as "telegram:42"' }).optional(),
    skill: z.string({ error: writeSkill }).min(1, { error: writeSkill }).optional(),
    since: z.iso.datetime({ error: 'write a time such as "2026-11-24T00:00:00Z"' }).optional(),
    kind: z.enum(auditKinds, { error: `write one of ${auditKinds.join(', ')}` }).optional(),
  },
  { error: 'write an object with "lines", such as { "lines": 20 }' },
);
const shownTools = z.object({
  server: text,
  /** `hash` is that of the definition that was shown. */
  tools: z.array(z.object({ name: text, hash: z.string() })).min(1),
});

/** What an operator can ask of a bot or of its store: by the command line, the control socket, or a page. */
export const operations = {
  'pair list': reads(none, async (_, { pairing, users, groups }) => ({
    pending: await pairing.pending(),
    paired: await users.paired(),
    owners: await users.owners(),
    groups: await users.allowedGroups(),
    ignored: await groups.ignored(),
  })),
  'pair claim': changes(none, async (_, { users, pairing }) => {
    if ((await users.owners()).length > 0)
      throw new OperatorError('this bot has an owner: others are named under [bot] owner in config.toml');
    return { claim: `start claim_${await pairing.newOwnerToken()}` };
  }),
  'pair approve': changes(text, async (code, { pairing, welcome }) => {
    const request = found(await pairing.approve(code), code);
    await welcome(request);
    return request;
  }),
  'pair deny': changes(text, async (code, { pairing }) => found(await pairing.deny(code), code)),
  'pair revoke': changes(text, async (id, { pairing, groups }) => {
    if (!(await pairing.revoke(id)) && !(await groups.revoke(id)))
      throw new OperatorError(
        `${id} is neither paired nor a group that was decided on: see \`${skilletHere()} pair list\``,
      );
    return { revoked: id };
  }),

  'inbox list': reads(z.enum(['dead', 'waiting']), async (state, { store }) =>
    (await store.inbox.list(state)).map(toLetter),
  ),
  'inbox retry': changes(text, async (key, { store }) => {
    if (!(await store.inbox.retry(key)))
      throw new OperatorError(`there is no dead letter ${key}: see \`${skilletHere()} inbox list\``);
    return { retried: key };
  }),
  'inbox drop': changes(text, async (key, { store }) => {
    const { inbox } = store;
    const items = [...(await inbox.list('waiting')), ...(await inbox.list('dead'))];
    const item = items.find((one) => one.key === key);
    // The placeholder goes first: if this is cut off, the operator can drop the item again.
    if (item !== undefined) await removePlaceholder(item, store);
    if (!(await inbox.drop(key)))
      throw new OperatorError(`no message waits or failed under ${key}: see \`${skilletHere()} inbox list\``);
    return { dropped: key };
  }),
  'outbox list': reads(none, (_, { store }) => store.outbox.givenUp()),
  'outbox retry': changes(text, async (key, { store }) => {
    if (!(await store.outbox.revive(key)))
      throw new OperatorError(`there is no failed delivery ${key}: see \`${skilletHere()} outbox list\``);
    return { retried: key };
  }),

  /** Copies the store, if it is a file. */
  backup: changes(
    text.refine(path.isAbsolute, 'write an absolute path: the bot may run in another folder'),
    async (file, { store }, onProgress) => {
      return { copied: await store.backup(file, onProgress) };
    },
  ),
  forget: changes(text, (sender, deps) => deps.forget(sender)),
  'memory list': reads(text, (person, { store }) => memoriesOf(person, store)),
  'memory team': reads(none, (_, { store }) => teamNotes(store)),
  /** Removes a note of the team; an operator can remove no others. */
  'memory remove': changes(target, async ({ id, by = unnamed }, deps) => {
    if (!(await removeTeamNote(id, by, deps)))
      throw new OperatorError(`there is no note ${id} of the team: see \`${skilletHere()} memory team\``);
    return { removed: id };
  }),
  /** Sums of this day (in the operator's time zone) and of the days after it. */
  stats: reads(z.iso.date(), (first, { store }) => store.stats(first)),

  /** Lists messages and runs that are not finished (S8). */
  'work list': reads(none, (_, { store }) => listWork(store)),
  'approval list': reads(none, async (_, { store }) =>
    (await store.pendingRequests.waiting()).filter(({ kind }) => kind === 'approval').map(toWaitingApproval),
  ),
  /** Answers an approval, judged like a press of that person (S11, T8). */
  'approval answer': { ...changes(approvalAnswer, answerApproval), offline: false },
  /** Says what the rules decide about a person in a chat, and why (S8). */
  'access decisions': reads(writer, (of, deps) => accessDecisions(of, deps)),
  /** Says who is in the groups that lists of people may name (A13). */
  'group list': reads(none, async (_, { inForce }) => {
    const { config, userGroups } = await inForce();
    return namedGroups(config, userGroups);
  }),
  health: reads(none, async (_, { store, running }) => {
    const problem = await store.check().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const backlog = problem === undefined ? await store.backlog() : undefined;
    return { version: skilletVersion(), readiness: running?.readiness(), problem, backlog };
  }),

  'policy list': reads(none, async (_, { rules, mcp }) =>
    listRules(await rules.list(), await mcp.definitionHashes()),
  ),
  'policy revoke': changes(text, async (id, { rules }) => {
    const gone = await rules.revoke(id);
    if (gone === undefined)
      throw new OperatorError(`there is no rule ${id}: see \`${skilletHere()} policy list\``);
    return gone;
  }),
  'mcp list': reads(none, (_, { mcp }) => mcp.list()),
  'mcp agree': changes(shownTools, (shown, { mcp }) => mcp.agree(shown)),
  'capability list': reads(none, (_, { capabilities }) => capabilities.list()),
  'capability accounts': reads(none, (_, { capabilities }) => capabilities.accounts()),
  'capability revoke': changes(account, async (of, { capabilities }) => {
    await capabilities.revoke(of);
    return { revoked: true };
  }),

  status: reads(none, (_, deps) => statusOf(deps)),
  ...routineOperations,
  tasks: reads(none, (_, { store }) => tasksOf(store)),
  'audit tail': reads(auditLines, async ({ lines, ...filter }, { audit }) => {
    const isFiltered = Object.keys(filter).length > 0;
    const found = matchLines(await audit.tail(isFiltered ? mostSearched : lines), filter);
    return found.slice(-lines).map(withoutDirectArguments);
  }),
  'audit verify': reads(none, (_, { audit }) => audit.verify()),
  /** Records a change in the audit. The command line has already changed the folder. */
  'skills installed': changes(installed, (of, { audit }) =>
    audit.record({ event: 'skills_installed', ...of }),
  ),
  'skills removed': changes(installed, (of, { audit }) => audit.record({ event: 'skills_removed', ...of })),
  'skill written': reads(none, (_, { approvals }) => approvals.records()),
  'skill enable': changes(text, async (name, { approvals }) => decided(await approvals.enable(name))),
  'skill discard': changes(text, async (name, { approvals }) => decided(await approvals.discard(name))),
};

type Operations = typeof operations;
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

function decided(outcome: ApprovalOutcome): ApprovalOutcome {
  const { name } = outcome;
  if (outcome.outcome === 'unknown')
    throw new OperatorError(
      `${name} is no skill that the bot wrote: those are switched by [skills.${name}] enabled in the config`,
    );
  if (outcome.outcome === 'changed')
    throw new OperatorError(`${name} was changed by hand since the bot wrote it: delete its folder yourself`);
  return outcome;
}

async function answerApproval(
  { id, answer, by }: z.output<typeof approvalAnswer>,
  { store, users, running }: OperateDeps,
): Promise<Readonly<{ text: string }>> {
  const request = await store.pendingRequests.find(id);
  if (request?.kind !== 'approval' || running === undefined)
    throw new OperatorError(`there is no approval ${id}`);
  const { conversation, requester } = request;
  if (request.state === 'open') {
    const [item] = await store.inbox.waitingIn(conversationKey(conversation));
    // The kind of chat is unknown if its message can't be read, and then it is judged like a group.
    const chatType = item?.message?.chatType ?? 'unknown';
    const may = await users.mayAct({ conversation, chatType, sender: { id: by, kind: 'person' } });
    if (!may.allowed) throw new OperatorError(may.reason);
    if (answer === 'approve' && by !== requester && isAskedDirectly(request))
      throw new OperatorError(
        `Only ${requester} can approve this: nobody else can read what it is called with. You can deny it.`,
      );
  }
  const answered = await running.answer(id, { sender: by, conversation }, answer);
  if (answered.kind === 'taken') return { text: answered.text };
  throw new OperatorError(answered.kind === 'unknown' ? `there is no approval ${id}` : answered.text);
}

function found(request: PairingRequest | undefined, code: string): PairingRequest {
  if (request === undefined)
    throw new OperatorError(
      `${code} is no valid pairing code (they last an hour): see \`${skilletHere()} pair list\``,
    );
  return request;
}
