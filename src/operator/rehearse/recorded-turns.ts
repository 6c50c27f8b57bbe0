import { createHash } from 'node:crypto';
import { z } from 'zod';
import { allText, callsOf, finalText, type ModelEntry } from '../../agent/next-step.ts';
import { invocationItem } from '../../conversations/user-entry.ts';
import { taintIn, type Entry } from '../../core/entry.ts';
import { addTokens, noTokens, type Tokens } from '../../core/model.ts';
import { withoutDate } from '../../runs/user-content.ts';
import { chatTypeOf } from '../../store/transcripts.ts';
import type { Writer } from '../access/access-decisions.ts';
import type { OperateDeps } from '../operate-deps.ts';
import { knownDecisions, messagesSince, recordedLines, type RehearsalRecord } from './rehearsal-record.ts';

const since = z.iso.datetime({ error: 'write a time such as "2026-11-24T00:00:00Z"' });

/** Which turns to sample. Without `private`, none that only one person or few may know of. */
export const sampleAsked = z.object({ since, most: z.int().min(1).max(1_000), private: z.boolean() });
type SampleAsked = Readonly<z.output<typeof sampleAsked>>;

/** A turn that was answered, without its words. */
type SampledTurn = Readonly<{
  transcript: string;
  item: string;
  at: number;
  who: Writer;
  /** It is of a direct message, or of a conversation that holds private data (S7). */
  isPrivate: boolean;
  /** The model that answered, by its own name, and what it took then, without the runs of skills. */
  model: string;
  tokens: Tokens;
}>;

export type TurnSample = Readonly<{
  turns: readonly SampledTurn[];
  /** How many turns the sample is from. */
  of: number;
  /** How many turns of that time can't be answered again, by why. */
  leftOut: Readonly<Record<string, number>>;
  known: RehearsalRecord['known'];
}>;

/** A turn as it is in the record, with its words. */
export type RecordedTurn = Readonly<{
  /** What the model knew when it was asked first. */
  before: readonly Entry[];
  /** Where the turn begins in `before`. */
  start: number;
  /** Its answers, calls and results, and what joined it. */
  record: readonly Entry[];
}>;

/** Chooses turns that were answered. The same record and question give the same turns (L20). */
export async function sampleTurns(asked: SampleAsked, deps: OperateDeps): Promise<TurnSample> {
  const { store } = deps;
  const { types } = await recordedLines(asked.since, deps);
  const leftOut: Record<string, number> = {};
  const add = (why: string): void => void (leftOut[why] = (leftOut[why] ?? 0) + 1);
  const found: SampledTurn[] = [];
  const read = createReadOnce(store);
  for (const { transcript, item, at, who } of await messagesSince(asked.since, types, store)) {
    const { entries, damaged } = await read(transcript);
    const turn = typeof who === 'string' ? who : turnIn(entries, item);
    if (typeof turn === 'string') add(turn);
    if (turn === undefined || typeof turn === 'string' || typeof who === 'string') continue;
    const isHidden = who.chatType === 'private' || isPrivate(turn, { transcript, entries, damaged });
    if (isHidden && !asked.private) add(direct);
    else {
      const model = answersOf(turn.record).at(-1)?.model ?? '';
      const tokens = tokensIn(turn.record);
      found.push({ transcript, item, at, who, isPrivate: isHidden, model, tokens });
    }
  }
  const order = (turn: SampledTurn): string =>
    createHash('sha256')
      .update(JSON.stringify([turn.transcript, turn.item]))
      .digest('hex');
  const chosen = found.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, asked.most);
  const turns = chosen.toSorted((a, b) => a.at - b.at);
  return { turns, of: found.length, leftOut, known: await knownDecisions(store) };
}

const direct = 'turns of direct messages, or with private data: add --private';

export const turnAsked = z.object({
  transcript: z.string().min(1).max(1_000),
  item: z.string().min(1).max(1_000),
  private: z.boolean(),
});

/**
 * Reads a sampled turn with its words. Undefined if it is gone, or if it is private and the operator did not ask for such
 * turns (S8).
 */
export async function readRecordedTurn(
  { transcript, item, ...asked }: Readonly<z.output<typeof turnAsked>>,
  { store }: OperateDeps,
): Promise<RecordedTurn | undefined> {
  const { entries, damaged } = await createReadOnce(store)(transcript);
  const turn = turnIn(entries, item);
  if (turn === undefined || typeof turn === 'string') return undefined;
  return !asked.private && isPrivate(turn, { transcript, entries, damaged }) ? undefined : turn;
}

/** What is not shown to be of a group counts as private, and so does all that follows private data. */
function isPrivate(
  { before, start }: RecordedTurn,
  { transcript, entries, damaged }: Transcript & Readonly<{ transcript: string }>,
): boolean {
  const first = before[start];
  const type = first?.kind === 'user' ? chatTypeOf(first, transcript) : undefined;
  return type !== 'group' || taintIn(entries, damaged) !== undefined;
}

type Transcript = Readonly<{ entries: readonly Entry[]; damaged: number }>;

/** Reads transcripts, and keeps the last one, because turns of one follow each other. */
function createReadOnce({ transcripts }: OperateDeps['store']): (id: string) => Promise<Transcript> {
  let last: Readonly<{ id: string; read: Transcript }> | undefined;
  return async (id) => {
    if (last?.id === id) return last.read;
    const { entries, damaged } = await transcripts.read(id);
    last = { id, read: { entries: entries.map(({ entry }) => entry), damaged } };
    return last.read;
  };
}

/** A turn of a transcript. A text says why it can't be answered again. Undefined: the message joined another turn. */
function turnIn(entries: readonly Entry[], item: string): RecordedTurn | string | undefined {
  const start = entries.findLastIndex((entry) => entry.kind === 'user' && entry.item === item);
  const first = entries[start];
  if (first?.kind === 'user' && first.joins !== undefined) return undefined;
  const summary = entries.findLastIndex(({ kind }) => kind === 'summary');
  if (start <= summary) return 'turns that were summed up since';
  const next = entries.findIndex((entry, at) => at > start && beginsAnother(entry, item));
  const end = next < 0 ? entries.length : next;
  const asked = entries.findIndex((entry, at) => at > start && entry.kind === 'assistant');
  if (asked < 0 || asked >= end) return 'turns that no model answered';
  return { before: entries.slice(0, asked), start, record: entries.slice(asked, end) };
}

function beginsAnother(entry: Entry, item: string): boolean {
  return entry.kind === 'user' && entry.joins === undefined && entry.item !== invocationItem(item);
}

function answersOf(record: readonly Entry[]): readonly ModelEntry[] {
  return record.filter((entry) => entry.kind === 'assistant');
}

/** What the person asked and read then, and the calls that were made for it. */
export function wordsInTurn({ before, start, record }: RecordedTurn) {
  const asked = before
    .slice(start)
    .flatMap((entry) => (entry.kind === 'user' ? [textOf(entry.content)] : []));
  const answers = answersOf(record);
  return {
    question: asked.join('\n'),
    answer: finalText(answers) || allText(answers),
    calls: answers.flatMap((answer) => callsOf(answer).map(({ name }) => name)),
  };
}

function textOf(content: Extract<Entry, { kind: 'user' }>['content']): string {
  if (typeof content === 'string') return withoutDate(content);
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

export function tokensIn(entries: readonly Entry[]): Tokens {
  return entries.reduce((sum, entry) => ('tokens' in entry ? addTokens(sum, entry.tokens) : sum), noTokens);
}
