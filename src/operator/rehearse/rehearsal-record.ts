import { z } from 'zod';
import { auditPerson } from '../../audit/audit-event.ts';
import { placeOfKey } from '../../core/conversation.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import { storedTokens } from '../../store/stored-entry.ts';
import type { TurnOf } from '../../store/store.ts';
import type { OperateDeps } from '../operate-deps.ts';
import { writer } from '../access/access-decisions.ts';

const at = z.string();

/** Something that a config decides about, as the record has it. It has ids, names and codes, and no words. */
const rehearsedCase = z.discriminatedUnion('kind', [
  /** `was` is `answered` or the code of the refusal. */
  z.object({ kind: z.literal('message'), at, who: writer, was: z.string() }),
  /** Somebody used a skill, or was refused. */
  z.object({ kind: z.literal('skill'), at, who: writer, skill: z.string(), was: z.string() }),
  /** `risk` is the one that the tool said at that time, and `was` what the policy said. */
  z.object({
    ...{ kind: z.literal('call'), at, who: writer, tool: z.string(), skill: z.string().optional() },
    ...{ risk: z.enum(['safe', 'moderate', 'dangerous', 'critical']), was: z.string() },
  }),
  /** `who` answered the question about a call of `requester`. */
  z.object({
    ...{ kind: z.literal('press'), at, who: writer, requester: z.string(), tool: z.string() },
    ...{ skill: z.string().optional(), was: z.string() },
  }),
]);

const pairs = z.array(z.tuple([z.string(), z.unknown()])).readonly();
/** What the store and the audit hold of a time, as far as a config decides about it (L20). */
export const rehearsalRecord = z.object({
  since: z.string(),
  cases: z.array(rehearsedCase).readonly(),
  /** Stored decisions of owners, and ids of chats that moved, which count beside any config. */
  known: z.object({ people: pairs, moved: pairs }),
  usage: z.array(z.object({ model: z.string(), tokens: storedTokens })).readonly(),
  /** How many entries are not judged, by why. */
  notJudged: z.record(z.string(), z.number()),
});

export type RehearsalRecord = Readonly<z.output<typeof rehearsalRecord>>;
export type RehearsedCase = RehearsalRecord['cases'][number];

const anyLine = z.record(z.string(), z.unknown());
type Line = Readonly<z.output<typeof anyLine>>;
type Who = RehearsedCase['who'];

/** Reads what was done since a time. Nothing of it is words of people. */
export async function readRehearsalRecord(since: string, deps: OperateDeps): Promise<RehearsalRecord> {
  const { store } = deps;
  const { lines, types } = await recordedLines(since, deps);
  const notJudged: Record<string, number> = {};
  const cases: RehearsedCase[] = [];
  const add = (found: RehearsedCase | string): void => {
    if (typeof found === 'string') notJudged[found] = (notJudged[found] ?? 0) + 1;
    else cases.push(found);
  };
  for (const { at, who } of await messagesSince(since, types, store))
    add(
      typeof who === 'string'
        ? who
        : { kind: 'message', at: new Date(at).toISOString(), who, was: 'answered' },
    );
  for (const line of lines) {
    const found = caseOf(line, types);
    if (found !== undefined) add(found);
  }
  const usage = (await store.stats(since.slice(0, 10))).map(({ model, tokens }) => ({ model, tokens }));
  return { since, cases, usage, notJudged, known: await knownDecisions(store) };
}

type ChatTypes = ReadonlyMap<string, Who['chatType']>;

/** The lines of the audit since a time, and the types of chats that they name. */
export async function recordedLines(
  since: string,
  { audit }: OperateDeps,
): Promise<Readonly<{ lines: readonly Line[]; types: ChatTypes }>> {
  const lines = (await audit.since(since)).flatMap((text): readonly Line[] => {
    const read = anyLine.safeParse(parseJson(text));
    return read.success ? [read.data] : [];
  });
  const types = new Map<string, Who['chatType']>();
  for (const line of lines) {
    const type = writer.shape.chatType.safeParse(line['chatType']).data;
    if (type !== undefined && typeof line['conversation'] === 'string')
      types.set(roomOf(line['conversation']), type);
  }
  return { lines, types };
}

/** The messages since a time that became a turn or part of one. A text in place of `who` says why it is unknown. */
export async function messagesSince(
  since: string,
  types: ChatTypes,
  { transcripts }: OperateDeps['store'],
): Promise<readonly Readonly<TurnOf & { who: Who | string }>[]> {
  return (await transcripts.turnsSince(Date.parse(since))).map((turn) => {
    const { sender, conversation, chatType } = turn;
    return { ...turn, who: writerOf(sender, conversation, types.get(roomOf(conversation)) ?? chatType) };
  });
}

/** Decisions of owners and ids of chats that moved, which count beside any config. */
export async function knownDecisions(store: OperateDeps['store']): Promise<RehearsalRecord['known']> {
  return { people: await decisionsIn(store.keyed('people')), moved: await allOf(store.keyed('moved')) };
}

/** Undefined for lines that no config decides about. A text says why a line can't be judged. */
function caseOf(line: Line, types: ChatTypes): RehearsedCase | string | undefined {
  const text = (key: string): string => (typeof line[key] === 'string' ? line[key] : '');
  const place = text('conversation');
  const who = (sender: string) => writerOf(sender, place, types.get(roomOf(place)));
  const skill = typeof line['skill'] === 'string' ? line['skill'] : undefined;
  switch (line['event']) {
    case 'message_refused': {
      const from = who(text('sender'));
      if (typeof from === 'string') return from;
      const addressed = text('code') !== 'NOT_ADDRESSED';
      return { kind: 'message', at: text('at'), who: { ...from, addressed }, was: text('code') };
    }
    case 'run':
    case 'skill_refused': {
      const from = who(text('sender'));
      if (typeof from === 'string' || skill === undefined) return typeof from === 'string' ? from : undefined;
      return {
        kind: 'skill',
        at: text('at'),
        who: from,
        skill,
        was: line['event'] === 'run' ? 'used' : text('code'),
      };
    }
    case 'tool_call':
    case 'tool_call_blocked': {
      const from = who(text('sender'));
      if (typeof from === 'string') return from;
      const risk = risks.safeParse(line['risk']).data;
      if (risk === undefined) return 'calls of tools that did not exist';
      return {
        kind: 'call',
        at: text('at'),
        who: from,
        tool: text('tool'),
        skill,
        risk,
        was: text('policy'),
      };
    }
    case 'approval': {
      if (text('by') === '') return undefined;
      const from = who(text('by'));
      if (typeof from === 'string') return from;
      const requester = text('requester');
      return {
        kind: 'press',
        at: text('at'),
        who: from,
        requester,
        tool: text('tool'),
        skill,
        was: text('outcome'),
      };
    }
    default:
      return undefined;
  }
}

const risks = z.enum(['safe', 'moderate', 'dangerous', 'critical']);

/** Who wrote where. The record does not say if a chat was shared with another company, so it counts as not shared. */
function writerOf(sender: string, conversation: string, chatType: Who['chatType'] | undefined): Who | string {
  if (!auditPerson.test(sender) || sender.startsWith('#') || conversation.startsWith('#'))
    return 'entries of people or chats that were forgotten';
  if (chatType === undefined) return 'messages in chats whose type the record does not have';
  const { channel, chat } = placeOfKey(conversation);
  const kind = /^slack:B[A-Z0-9]+$/.test(sender) ? 'bot' : 'person';
  return { sender, kind, channel, chat, chatType, external: false, addressed: true };
}

function roomOf(conversation: string): string {
  return conversation.replace(/[/~@#].*$/s, '');
}

type Rows = Readonly<{ iterator(): AsyncIterable<readonly unknown[]> }>;

async function allOf(rows: Rows): Promise<[string, unknown][]> {
  const all: [string, unknown][] = [];
  for await (const [key, value] of rows.iterator()) all.push([String(key), value]);
  return all;
}

/** Pairings, claims and groups; not names, languages and time zones. */
async function decisionsIn(people: Rows): Promise<[string, unknown][]> {
  return (await allOf(people)).filter(([key]) => /^(owner|paired|group):/.test(key));
}
