import type { Message, Quote, Task } from '../core/message.ts';
import { idOnLabel, removed, withoutQuotes } from './forget-quotes.ts';
import type { ItemPart } from './join-messages.ts';
import { readStored } from './stored-json.ts';
import { storedAsk } from './stored-ask.ts';
import { storedItem, storedMessage } from './stored-message.ts';

/** Whose a stored message is, and what is left of it without what it quotes of the person. */
export type JudgedMessage = Readonly<{
  theirs: boolean;
  /** It was said in a direct message with them. */
  direct: boolean;
  /** As stores write it. */
  rest: string;
}>;

/** Judges the JSON of an inbox row; one that can't be read is theirs if it names them. */
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

/** Judges the JSON of an overheard message. */
export function judgeOverheard(text: string, sender: string): JudgedMessage {
  const read = readStored(storedMessage, text);
  if (!read.ok) return { theirs: names(text, sender), direct: false, rest: text };
  const message = withoutQuote(read.value, sender);
  return { ...judged(message, sender), rest: message === read.value ? text : JSON.stringify(message) };
}

/** Whether the JSON of an ask says that this person answered it. */
export function answeredBy(text: string, sender: string): boolean {
  const read = readStored(storedAsk, text);
  return read.ok ? read.value.answer?.by === sender : names(text, sender);
}

/** Whether a text names this id, and not one that only begins or ends like it. */
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
  const { replyTo, shared, task } = message;
  const forget = (quote: Quote): Quote =>
    quote.sender === sender ? { name: removed, text: removed, own: false } : quote;
  const left: Message = {
    ...message,
    ...(replyTo === undefined ? {} : { replyTo: forget(replyTo) }),
    ...(shared === undefined ? {} : { shared: shared.map(forget) }),
    ...(task?.kind === 'run' ? { task: withoutContext(task, sender) } : {}),
  };
  return JSON.stringify(left) === JSON.stringify(message) ? message : left;
}

/** A run that a person started is told what others said before. */
function withoutContext(task: Extract<Task, { kind: 'run' }>, sender: string): Task {
  const { context } = task.input;
  if (typeof context !== 'string') return task;
  const left = withoutQuotes(context, ({ id }) => id === idOnLabel(sender));
  return { ...task, input: { ...task.input, context: left } };
}
