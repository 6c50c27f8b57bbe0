import type { Entry } from '../core/entry.ts';
import type { Message, Quote, Task } from '../core/message.ts';
import { around, labelled } from '../lib/text/escape-labels.ts';
import type { ItemPart } from './grow-item.ts';
import { storedRequest } from './pending-requests.ts';
import { storedEntry } from './stored-entry.ts';
import { readStored } from './stored-json.ts';
import { storedItem, storedMessage } from './stored-message.ts';

const removed = '[removed]';

/** Matches labelled text. Content can't contain labels, so the first end is the right one. */
const piece = /<(message|quote|file)((?: [a-z]+="[^"]*")*)>\n([^]*?)\n<\/\1>/g;

type UserEntry = Extract<Entry, { kind: 'user' }>;
type Summary = Extract<Entry, { kind: 'summary' }>;

type Fate = 'kept' | 'removed' | Readonly<{ rewritten: string }>;

/** What a transcript told about a person, once all of it was judged. */
export type Findings = Readonly<{
  /** Ids of the inbox items of their turns. */
  items: readonly string[];
  /** `theirs` is a direct message with them. `unknown` means that they said nothing there. */
  room: 'theirs' | 'shared' | 'unknown';
}>;

/** Takes the place of a summary that may contain words of the person. */
export const forgottenSummary = 'What was said here before was removed at the wish of a person.';

/** A quote with fewer letters counts as theirs only if it is all they said, because many people say "yes". */
const tellingLetters = 8;

/**
 * Judges the entries of one transcript in order (Q12). It removes the person's turns, and replaces quotes of the person
 * in turns of others. A summary that may contain their words becomes a plain note that keeps the same entries.
 */
export function createForgetEntries(
  sender: string,
): Readonly<{ judge(text: string): Fate; findings(): Findings }> {
  const mark = idOnLabel(sender);
  const items = new Set<string>();
  /** Letters of their messages and of the answers to them. */
  const said = new Set<string>();
  const gone: boolean[] = [];
  const seen = { theirTurn: false, theirs: false, others: false, room: false, quoted: false };

  function judgeEntry(entry: Entry): Fate {
    if (entry.kind === 'summary') return judgeSummary(entry);
    if (entry.kind === 'user' && entry.sender !== undefined) begin(entry, entry.sender);
    if (entry.kind === 'tool_result' && !seen.theirTurn) return judgeResult(entry);
    if (seen.theirTurn) {
      for (const text of textsOf(entry)) said.add(lettersOf(text));
      return 'removed';
    }
    return entry.kind === 'user' ? judgeQuotes(entry) : 'kept';
  }

  function begin(entry: UserEntry, from: string): void {
    seen.theirTurn = from === sender;
    if (seen.theirTurn) seen.theirs = true;
    else seen.others = true;
    if (textsOf(entry).some(isOfRoom)) seen.room = true;
    if (seen.theirTurn && entry.item !== undefined) items.add(entry.item);
  }

  function judgeQuotes(entry: UserEntry): Fate {
    const { content, context } = entry;
    const rewritten: UserEntry['content'] =
      typeof content === 'string'
        ? withoutQuotes(content, isTheirs)
        : content.map((block) =>
            block.type === 'text' ? { ...block, text: withoutQuotes(block.text, isTheirs) } : block,
          );
    const files = entry.files?.filter((file) => file.sender !== sender);
    const told = context && withoutQuotes(context, isTheirs);
    const left = {
      ...entry,
      content: rewritten,
      context: told,
      files,
    };
    if (JSON.stringify(left) === JSON.stringify(entry)) return 'kept';
    seen.quoted = true;
    return { rewritten: JSON.stringify(left) };
  }

  /** Replaces quotes in a tool's result: `recall` quotes people with their ids (K5). */
  function judgeResult(entry: Extract<Entry, { kind: 'tool_result' }>): Fate {
    const content = withoutQuotes(entry.content, ({ id }) => id === mark);
    return content === entry.content ? 'kept' : { rewritten: JSON.stringify({ ...entry, content }) };
  }

  function isTheirs({ id, text }: Quoted): boolean {
    const letters = lettersOf(text);
    if (id === mark) said.add(letters);
    if (id !== undefined) return id === mark;
    if (said.has(letters)) return true;
    return letters.length >= tellingLetters && said.values().some((theirs) => theirs.includes(letters));
  }

  function judgeSummary(summary: Summary): Fate {
    if (!seen.others && seen.theirTurn) return 'removed';
    const kept = gone.slice(Math.max(0, gone.length - summary.kept));
    const fewer = (among: readonly boolean[]): number => among.filter(Boolean).length;
    const folded = (summary.folded ?? 0) - fewer(kept.slice(0, summary.folded ?? 0));
    const holds = summary.senders?.includes(sender) ?? seen.theirs;
    const { folded: _before, own, ...rest } = summary;
    const holdsTheirs = holds || seen.quoted;
    const rewritten: Summary = {
      ...rest,
      text: holdsTheirs ? forgottenSummary : rest.text,
      own: holdsTheirs ? undefined : own,
      kept: summary.kept - fewer(kept),
      folded: folded > 0 ? folded : undefined,
      senders: summary.senders?.filter((id) => id !== sender),
    };
    const text = JSON.stringify(rewritten);
    return text === JSON.stringify(summary) ? 'kept' : { rewritten: text };
  }

  return {
    judge(text) {
      const read = readStored(storedEntry, text);
      // Entries that can't be read are removed if they may be of the person.
      if (!read.ok) return seen.theirTurn || text.includes(sender) ? 'removed' : 'kept';
      const fate = judgeEntry(read.value);
      gone.push(fate === 'removed');
      return fate;
    },
    findings() {
      const shared = seen.others || seen.room;
      return { items: [...items], room: shared ? 'shared' : seen.theirs ? 'theirs' : 'unknown' };
    },
  };
}

function textsOf(entry: Entry): readonly string[] {
  if (entry.kind !== 'user' && entry.kind !== 'assistant') return [];
  if (typeof entry.content === 'string') return [entry.content];
  return entry.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** The letters and digits of a text, which are the same however a platform shows it. */
function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

/** `rest` is what remains without quotes of the person. */
type JudgedMessage = Readonly<{
  theirs: boolean;
  direct: boolean;
  rest: string;
}>;

/** Judges an inbox row. If it can't be read, it counts as theirs if it names them. */
export function judgeItem(text: string, sender: string): JudgedMessage {
  const read = readStored(storedItem, text);
  if (!read.ok) return { theirs: names(text, sender), direct: false, rest: text };
  const [{ message }] = read.value;
  const parts = read.value.map((part): ItemPart => ({
    ...part,
    message: withoutQuote(part.message, sender),
  }));
  const changed = parts.some((part, index) => part.message !== read.value[index]?.message);
  return { ...judged(message, sender), rest: changed ? JSON.stringify(parts) : text };
}

export function judgeGroupContext(text: string, sender: string): JudgedMessage {
  const read = readStored(storedMessage, text);
  if (!read.ok) return { theirs: names(text, sender), direct: false, rest: text };
  const message = withoutQuote(read.value, sender);
  return { ...judged(message, sender), rest: message === read.value ? text : JSON.stringify(message) };
}

export function answeredBy(text: string, sender: string): boolean {
  const read = readStored(storedRequest, text);
  return read.ok ? read.value.answer?.by === sender : names(text, sender);
}

/** Whether a text contains this id, not just a longer id with it inside. */
export function names(text: string, sender: string): boolean {
  for (let at = text.indexOf(sender); at >= 0; at = text.indexOf(sender, at + 1)) {
    const around = (text[at - 1] ?? ' ') + (text[at + sender.length] ?? ' ');
    if (!/[\p{L}\p{N}_-]/u.test(around)) return true;
  }
  return false;
}

function judged({ sender: { id }, chatType }: Message, sender: string): Omit<JudgedMessage, 'rest'> {
  return { theirs: id === sender, direct: id === sender && chatType === 'private' };
}

function withoutQuote(message: Message, sender: string): Message {
  const mark = idOnLabel(sender);
  return quotingLess(
    message,
    (quote) => quote.sender === sender,
    ({ id }) => id === mark,
  );
}

/** The message without some of what it quotes. The task of a run contains what others said before. */
export function quotingLess(
  message: Message,
  isGone: (quote: Quote) => boolean,
  isGoneText: (quoted: Quoted) => boolean,
): Message {
  const { replyTo, shared, task } = message;
  const forget = (quote: Quote): Quote =>
    isGone(quote) ? { name: removed, text: removed, own: false } : quote;
  const left: Message = {
    ...message,
    replyTo: replyTo && forget(replyTo),
    shared: shared?.map(forget),
    task: task?.kind === 'run' ? withoutContext(task, isGoneText) : task,
  };
  return JSON.stringify(left) === JSON.stringify(message) ? message : left;
}

function withoutContext(task: Extract<Task, { kind: 'run' }>, isGone: (quoted: Quoted) => boolean): Task {
  const { context } = task.input;
  if (typeof context !== 'string') return task;
  return { ...task, input: { ...task.input, context: withoutQuotes(context, isGone) } };
}

/** A quote in a user entry: group context or a message that was replied to. */
export type Quoted = Readonly<{
  label: 'message' | 'quote' | 'file';
  /** The attribute `id="telegram:42"`; undefined if the quote does not say whose it is. */
  id: string | undefined;
  text: string;
}>;

export function idOnLabel(sender: string): string {
  return /id="[^"]*"/.exec(around('message', [], { id: sender }))?.[0] ?? '';
}

/** What the JSON of an entry has in it if it is of a person or quotes them. */
export function marksOf(sender: string): readonly string[] {
  return [JSON.stringify(sender), JSON.stringify(idOnLabel(sender)).slice(1, -1)];
}

/** Whether a text is from a group chat: only there are a person's own words labelled (M8). */
function isOfRoom(text: string): boolean {
  return text.includes('<message ');
}

/** The text with quotes of a person replaced (M10, Q12). */
export function withoutQuotes(text: string, isTheirs: (quoted: Quoted) => boolean): string {
  return text.replace(
    piece,
    (whole, label: 'message' | 'quote' | 'file', attributes: string, quoted: string) => {
      const id = /id="[^"]*"/.exec(attributes)?.[0];
      return isTheirs({ label, id, text: quoted }) ? labelled(label, removed, { from: removed }) : whole;
    },
  );
}
