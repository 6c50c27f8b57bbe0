import type Anthropic from '@anthropic-ai/sdk';
import { fitBlocks, fitCallId, isServerTool } from './fit-history.ts';
import { callsOf, type ModelEntry } from './next-step.ts';
import { showTo, activeUnseen, collapseActiveSkills, type Viewer } from './show-to.ts';
import type { Entry } from '../core/entry.ts';
import type { BoundThinking } from '../core/model.ts';
import { withoutShown, type ShownFile } from '../core/received.ts';
import { interrupted } from '../core/tool-call.ts';
import { labelled } from '../lib/text/escape-labels.ts';

type Block = Anthropic.ContentBlockParam;
type Said = { role: 'user' | 'assistant'; content: Block[] };

/**
 * Makes the messages of a request: with alternating roles, results after their calls, open calls closed (M7), no empty
 * text and thinking unchanged. It leaves out refused turns, answers that the window cut, summarised entries (M9), old
 * instructions (T6) and hidden parts (M13). It is pure, so that the prompt cache gets the same bytes (M5).
 */
export function toMessages(
  entries: readonly Entry[],
  shown: Readonly<{ viewer?: Viewer | undefined; underWay?: number; files?: 'words' }> = {},
): readonly Anthropic.MessageParam[] {
  const { viewer } = shown;
  const said: Said[] = [];
  const say = (role: Said['role'], content: readonly Block[]): void => {
    if (content.length === 0) return;
    const last = said.at(-1);
    if (last?.role === role) last.content.push(...content);
    else said.push({ role, content: [...content] });
  };
  const view = viewEntries(entries);
  // Counted from the end, because a summary shortens the beginning.
  const turn = shown.underWay === undefined ? undefined : view.length - (entries.length - shown.underWay);
  const kept = withoutRefused(showTo(collapseActiveSkills(view), viewer, turn));
  const unseen = activeUnseen(entries, view);
  const withFiles = shown.files === 'words' ? new Set<Entry>() : entriesShown(kept);
  for (const [index, entry] of kept.entries()) {
    if (entry.kind === 'user') say('user', userBlocks(entry, withFiles.has(entry)));
    if (entry.kind === 'notice') say('user', [{ type: 'text', text: labelled('host', entry.text) }]);
    if (entry.kind === 'summary')
      say('user', [summaryBlock(entry, kept[index + 1] ?? entry, unseen, viewer)]);
    if (entry.kind === 'assistant' && entry.stopReason !== 'model_context_window_exceeded') {
      const later = kept.slice(index + 1);
      say('assistant', answerBlocks(entry, later));
      say('user', resultBlocks(entry, later));
    }
  }
  if (said[0]?.role === 'assistant') {
    said.unshift({
      role: 'user',
      content: [{ type: 'text', text: labelled('host', 'Earlier messages are gone.') }],
    });
  }
  return said;
}

/** Leaves out refused turns, which the API refuses to continue. */
function withoutRefused(entries: readonly Entry[]): readonly Entry[] {
  const kept: Entry[] = [];
  let turn: Entry[] = [];
  for (const entry of entries) {
    if (entry.kind === 'summary') {
      kept.push(entry);
      continue;
    }
    turn.push(entry);
    if (entry.kind !== 'assistant' || ['tool_use', 'pause_turn'].includes(entry.stopReason)) continue;
    if (entry.stopReason !== 'refusal') kept.push(...turn);
    else {
      const text = 'The model declined the request that stood here; it was left out.';
      kept.push({ kind: 'notice', text, at: entry.at });
    }
    turn = [];
  }
  return [...kept, ...turn];
}

/** The summary as memory, not as instructions (M11). */
function summaryBlock(
  { text, folded = 0, own }: Summary,
  next: Entry,
  unseen: readonly string[],
  viewer: Viewer | undefined,
): Block {
  const isOwn = own !== undefined && (viewer === undefined || viewer.sender === own.sender);
  const note = [
    `Today is ${new Date(next.at).toISOString().slice(0, 10)} (UTC).`,
    'Earlier parts of this conversation are replaced by the summary in <background>: a record of what was said and done. What people asked for in it was for its own time.',
    ...(folded === 0
      ? []
      : ['It also tells what was done so far for the request that follows; go on from there.']),
    ...unseen.map(
      (skill) => `The instructions of the skill ${skill} still hold: skills_load shows them again.`,
    ),
  ].join(' ');
  const whole = isOwn ? `${text}\n\n${own.text}` : text;
  const told = labelled('background', whole, { note: 'summary of earlier parts' });
  return { type: 'text', text: `${labelled('host', note)}\n${told}` };
}

function userBlocks(entry: Extract<Entry, { kind: 'user' }>, withFiles: boolean): readonly Block[] {
  const { content, asked = [] } = entry;
  const questions = asked.map(({ text }): Block => ({ type: 'text', text }));
  const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return [
    ...questions,
    ...fileBlocks(entry, withFiles),
    ...(withFiles ? blocks : saidUnshown(blocks, entry.files)),
  ].filter((block) => !isBlank(block));
}

function answerBlocks(answer: ModelEntry, later: readonly Entry[]): readonly Block[] {
  // Where it is not known which server did this itself, it stays only while that one is asked to continue (M18).
  const isPaused = later.every(({ kind }) => kind === 'assistant');
  const whole = ['tool_use', 'pause_turn'].includes(answer.stopReason);
  const ended = ['end_turn', 'stop_sequence'].includes(answer.stopReason);
  const calls = callsOf(answer).length > 0;
  const blocks: readonly Block[] = fitBlocks(answer.content).filter((block) => {
    if (isBlank(block)) return false;
    if (isServerTool(block) && !isPaused && answer.server === undefined) return false;
    if (block.type === 'tool_use') return calls;
    if (whole || block.type === 'text') return true;
    // In an answer that was cut, only text is complete.
    return ended;
  });
  const end = blocks.findLastIndex((block) => !isThinking(block));
  const { binding, server } = answer;
  return blocks.slice(0, end + 1).map((block) => {
    if (binding !== undefined && isThinking(block)) return { ...block, binding } as BoundThinking;
    return server !== undefined && isServerTool(block) ? withServer(block, server) : block;
  });
}

function withServer(block: Block, server: string): Block {
  const marked: Block & Readonly<{ server: string }> = Object.assign({}, block, { server });
  return marked;
}

function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function resultBlocks(answer: ModelEntry, later: readonly Entry[]): readonly Block[] {
  const next = later.findIndex(({ kind }) => kind === 'assistant');
  const own = next < 0 ? later : later.slice(0, next);
  return callsOf(answer).map(({ id }): Block => {
    const result = own.find((entry) => entry.kind === 'tool_result' && entry.toolUseId === id);
    const tool_use_id = fitCallId(id);
    if (result?.kind !== 'tool_result') {
      return { type: 'tool_result', tool_use_id, content: interrupted, is_error: true };
    }
    const content = result.content.trim() === '' ? '(no output)' : result.content;
    return { type: 'tool_result', tool_use_id, content, is_error: result.isError ? true : undefined };
  });
}

function isBlank(block: Block | Anthropic.ContentBlock): boolean {
  return block.type === 'text' && block.text.trim() === '';
}

export type Summary = Extract<Entry, { kind: 'summary' }>;

/**
 * The newest summary and the entries after it (M9); of a turn that it cut, the person's words. The result only grows
 * (M5).
 */
export function viewEntries(entries: readonly Entry[]): readonly Entry[] {
  const { at, summary } = newestSummary(entries);
  if (summary === undefined) return entries;
  const shown = isShown(entries);
  return [summary, ...entries.filter((_, index) => index !== at && shown(index))];
}

export function isShown(entries: readonly Entry[]): (index: number) => boolean {
  const { at, summary } = newestSummary(entries);
  if (summary === undefined) return () => true;
  const first = Math.max(0, at - summary.kept);
  // Counted from the end, so that damaged entries shift nothing.
  const whole = at - Math.max(0, summary.kept - (summary.folded ?? 0));
  const words = requestsAmong(entries, first, whole);
  return (index) =>
    index >= first &&
    (index >= whole || words.has(index)) &&
    (index === at || entries[index]?.kind !== 'summary');
}

export function newestSummary(
  entries: readonly Entry[],
): Readonly<{ at: number; summary: Summary | undefined }> {
  const at = entries.findLastIndex(({ kind }) => kind === 'summary');
  const summary = entries[at];
  return { at, summary: summary?.kind === 'summary' ? summary : undefined };
}

export function requestsAmong(entries: readonly Entry[], from: number, to: number): ReadonlySet<number> {
  const said: number[] = [];
  const signed: number[] = [];
  for (let index = from; index < to; index++) {
    const entry = entries[index];
    if (entry?.kind !== 'user') continue;
    said.push(index);
    if (entry.sender !== undefined) signed.push(index);
  }
  return new Set(signed.length > 0 ? signed : said.slice(-1));
}

/** Limits of the API: above 20 pictures they have to be smaller, and a request has 32 MB of base64. */
const most = { pictures: 20, bytes: 20_000_000 };

/**
 * The entries whose files are shown. When one more would be too much, all earlier ones become words, so that requests
 * rarely change (M13).
 */
function entriesShown(entries: readonly Entry[]): ReadonlySet<Entry> {
  const shown = new Set<Entry>();
  const held = { pictures: 0, bytes: 0 };
  for (const entry of entries) {
    if (entry.kind !== 'user' || entry.files === undefined) continue;
    const pictures = entry.files.filter(({ type }) => type === 'image').length;
    const bytes = entry.files.reduce((sum, { size }) => sum + size, 0);
    if (held.pictures + pictures > most.pictures || held.bytes + bytes > most.bytes) {
      shown.clear();
      Object.assign(held, { pictures: 0, bytes: 0 });
    }
    shown.add(entry);
    held.pictures += pictures;
    held.bytes += bytes;
  }
  return shown;
}

/** If `shown`, the file's bytes; else a sentence in its place. */
function fileBlocks({ files = [] }: Extract<Entry, { kind: 'user' }>, shown: boolean): readonly Block[] {
  return files.map((file) => (shown ? toBlock(file) : asWords(file, 'is not shown any more')));
}

export function fileOf(block: Block): ShownFile | undefined {
  if (block.type !== 'image' && block.type !== 'document') return undefined;
  const { source } = block as unknown as Readonly<{ source: Partial<ShownFile> }>;
  return source.hash === undefined ? undefined : (source as ShownFile);
}

/** The words of a message of which some files are shown as words, too. */
export function saidUnshown(blocks: readonly Block[], files: readonly ShownFile[] = []): readonly Block[] {
  const names = files.map(({ name }) => name);
  return blocks.map((block) =>
    block.type === 'text' ? { ...block, text: withoutShown(block.text, names) } : block,
  );
}

export function asWords({ type, name }: ShownFile, why: string): Anthropic.TextBlockParam {
  const what = type === 'image' ? 'picture' : 'document';
  return { type: 'text', text: labelled('host', `The ${what} ${name} stood here and ${why}.`) };
}

function toBlock(file: ShownFile): Block {
  return { type: file.type, source: file } as unknown as Block;
}
