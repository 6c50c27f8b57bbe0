import type Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../../lib/clock.ts';
import { createAssembly, type Assembled, type Assembly } from './assemble-answer.ts';
import { faultOf, OtherApi, ServerFault } from './model-failure.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

export type AnswerLimits = Readonly<{
  /** How many characters all blocks may have together. */
  characters: number;
  /** Whether thinking may be between tags. */
  tags: boolean;
  /** Whether the first tag of thinking is missing. */
  inside: boolean;
}>;

export type ReadAnswer = Assembled & Readonly<{ cut: boolean; beganInside: boolean }>;

/** The API that an answer is in. It is made for each answer. */
export type AnswerForm = Readonly<{
  /** What people call it, in sentences about faults. */
  name: string;
  /**
   * The events of the Messages API that a piece of a stream means, or a whole answer. Undefined if a whole answer is
   * not in this API.
   */
  events(fields: Fields, whole: boolean): readonly Fields[] | undefined;
  /** Puts the blocks of an answer in order. */
  arrange?(content: readonly Anthropic.ContentBlock[]): readonly Anthropic.ContentBlock[];
}>;

type ReadDeps = Readonly<{
  form: AnswerForm;
  clock: Clock;
  signal: AbortSignal;
  onChunk(): void;
  onText(text: string): void;
}>;

const mostBlocks = 200;
const mostBytes = 64_000_000;
const longestEvent = 8_000_000;
/** Milliseconds in which a slow local model writes 16,000 tokens. */
const longestMs = 30 * 60_000;
/** Bytes read after the end, so that the connection can be used again. */
const mostRest = 64_000;
/** How many characters are quoted of something that was no answer. */
const mostQuoted = 300;

/**
 * Reads a stream of events or a whole message, with or without what the Messages API promises around it (M19). What
 * arrived completely is an answer, even if its end is missing. Longer answers are cut. Throws OtherApi or ServerFault.
 */
export async function readModelAnswer(
  response: Response,
  limits: AnswerLimits,
  { form, clock, signal, onChunk, onText }: ReadDeps,
): Promise<ReadAnswer> {
  const assembly = createAssembly(limits);
  const began = clock.now();
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  const stop = (): void => void reader?.cancel(signal.reason).catch(() => undefined);
  const stopListening = onAbort(signal, stop);
  const body = createBody(assembly, form, (event) => {
    if (isFault(event)) throw faultOf(undefined, event, response.headers);
    const words = assembly.take(event);
    if (words !== '') onText(words);
  });
  let cut = false;
  let bytes = 0;
  const decoder = new TextDecoder();
  const isTooMuch = (): boolean =>
    assembly.size() > limits.characters ||
    assembly.blocks() > mostBlocks ||
    bytes > mostBytes ||
    body.waiting() > longestEvent ||
    clock.now() - began > longestMs;
  try {
    for (let more = true; more && !body.hasEnded() && !cut;) {
      const next = await reader?.read();
      more = next?.done === false;
      if (more) onChunk();
      bytes += next?.value?.length ?? 0;
      body.take(decoder.decode(next?.value, { stream: more }));
      cut = isTooMuch();
    }
    signal.throwIfAborted();
    if (!cut) body.end();
  } catch (error) {
    if (signal.aborted || !assembly.hasEnded() || error instanceof OtherApi) {
      stop();
      throw error instanceof ServerFault || error instanceof OtherApi ? error : broken(error);
    }
  } finally {
    stopListening();
  }
  if (cut) stop();
  else if (reader !== undefined) drain(reader).catch(() => undefined);
  if (!cut && !assembly.isWhole()) throw broken(new Error('the answer ended before it was whole'));
  const rest = assembly.end();
  if (rest !== '') onText(rest);
  const made = assembly.assembled();
  const content = form.arrange?.(made.content) ?? made.content;
  return { ...made, content, cut, beganInside: assembly.beganInside() };
}

function broken(error: unknown): Error {
  return new ServerFault(error instanceof Error ? error.message : String(error), { cause: error });
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let left = mostRest; left > 0;) {
    const { done, value } = await reader.read();
    if (done) return;
    left -= value.length;
  }
  await reader.cancel();
}

type Body = Readonly<{
  take(text: string): void;
  end(): void;
  /** True once the server has told its end. */
  hasEnded(): boolean;
  /** How many characters wait for more. */
  waiting(): number;
}>;

/** Finds events in lines or JSON alone, or keeps what came instead. */
function createBody(assembly: Assembly, form: AnswerForm, take: (event: Fields) => void): Body {
  let kind: 'events' | 'json' | 'page' | undefined;
  let buffer = '';
  let first = '';
  let name = '';
  let data = '';
  let ended = false;

  function line(text: string): void {
    if (text === '') return dispatch();
    const [, field = '', value = ''] = /^([a-z]+):? ?([^]*)$/.exec(text) ?? [];
    if (field === 'event') {
      dispatch();
      name = value;
    } else if (field === 'data') {
      // The empty line between two events may be missing.
      if (data !== '' && json(data) !== undefined) dispatch();
      data = data === '' ? value : `${data}\n${value}`;
    }
  }

  function dispatch(): void {
    const event = toEvent(name, data);
    name = '';
    data = '';
    if (event === undefined) return;
    for (const one of isFault(event) ? [event] : (form.events(event, false) ?? [])) take(one);
    ended = event['type'] === 'message_stop';
  }

  function lines(final: boolean): void {
    // A carriage return at the end may be half of a line end.
    const parts = buffer.split(/\r\n|\n|\r(?!$)/);
    buffer = final ? '' : (parts.pop() ?? '');
    for (const part of parts) if (!ended) line(part);
    if (final) dispatch();
  }

  return {
    take(text) {
      buffer += text;
      if (first.length < mostQuoted) first += text.slice(0, mostQuoted);
      kind ??= kindOf(buffer);
      if (kind === 'page' && first.length >= mostQuoted) throw new OtherApi(form.name, first);
      if (kind === 'events' && /[\r\n]/.test(text)) lines(false);
    },
    end() {
      if (kind === 'page') throw new OtherApi(form.name, first);
      if (kind === 'json') {
        const events = wholeEvents(json(buffer), form);
        if (events === undefined) throw new OtherApi(form.name, first);
        return events.forEach(take);
      }
      lines(true);
      if (assembly.isForeign() && first.trim() !== '') throw new OtherApi(form.name, first);
    },
    hasEnded: () => ended,
    waiting: () => buffer.length + data.length,
  };
}

/** The event with these lines. Undefined if they say nothing. */
function toEvent(name: string, data: string): Fields | undefined {
  if (data.trim() === '[DONE]') return { type: 'message_stop' };
  const fields = json(data) ?? (data === '' ? undefined : {});
  if (fields === undefined) return undefined;
  const event: Fields =
    typeof fields['type'] === 'string' || name === '' ? fields : { ...fields, type: name };
  return event['type'] === 'error' && !('error' in event) ? { ...event, error: { message: data } } : event;
}

function wholeEvents(fields: Fields | undefined, form: AnswerForm): readonly Fields[] | undefined {
  return fields === undefined || isFault(fields) ? fields && [fields] : form.events(fields, true);
}

/** Answers in the Messages API, which needs no translation. */
export const messagesForm: AnswerForm = {
  name: 'Messages API',
  events(fields, whole) {
    if (!whole) return [fields];
    return 'content' in fields ? [{ ...fields, type: 'message' }] : undefined;
  },
};

function kindOf(text: string): 'events' | 'json' | 'page' | undefined {
  const start = text.replace(/^\ufeff?\s*/, '').at(0);
  if (start === undefined) return undefined;
  if (start === '<') return 'page';
  return start === '{' ? 'json' : 'events';
}

export type Fields = Readonly<Record<string, unknown>>;

function json(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function isFault({ type, error }: Fields): boolean {
  return type === 'error' || (type === undefined && error !== undefined && error !== null);
}
