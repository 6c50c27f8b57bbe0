import type { Clock } from '../../lib/clock.ts';
import { createAssembly, type Assembled, type Assembly } from './assemble-answer.ts';
import { NoMessagesApi, type Sdk } from './anthropic-model-failure.ts';
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

type ReadDeps = Readonly<{
  sdk: Sdk;
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
 * arrived completely is an answer, even if its end is missing. Longer answers are cut. Throws NoMessagesApi, or an
 * error of the SDK.
 */
export async function readModelAnswer(
  response: Response,
  limits: AnswerLimits,
  { sdk, clock, signal, onChunk, onText }: ReadDeps,
): Promise<ReadAnswer> {
  const assembly = createAssembly(limits);
  const began = clock.now();
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  const stop = (): void => void reader?.cancel(signal.reason).catch(() => undefined);
  const stopListening = onAbort(signal, stop);
  const body = createBody(assembly, (event) => {
    if (isFault(event)) throw new sdk.APIError(undefined, event, undefined, response.headers);
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
    if (signal.aborted || !assembly.hasEnded() || error instanceof NoMessagesApi) {
      stop();
      throw error instanceof sdk.AnthropicError || error instanceof NoMessagesApi
        ? error
        : broken(error, sdk);
    }
  } finally {
    stopListening();
  }
  if (cut) stop();
  else if (reader !== undefined) drain(reader).catch(() => undefined);
  if (!cut && !assembly.isWhole()) throw broken(new Error('the answer ended before it was whole'), sdk);
  const rest = assembly.end();
  if (rest !== '') onText(rest);
  return { ...assembly.assembled(), cut, beganInside: assembly.beganInside() };
}

function broken(error: unknown, sdk: Sdk): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new sdk.AnthropicError(message, { cause: error });
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
function createBody(assembly: Assembly, take: (event: Fields) => void): Body {
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
    take(event);
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
      if (kind === 'page' && first.length >= mostQuoted) throw new NoMessagesApi(first);
      if (kind === 'events' && /[\r\n]/.test(text)) lines(false);
    },
    end() {
      if (kind === 'page') throw new NoMessagesApi(first);
      if (kind === 'json') {
        const event = toMessage(buffer);
        if (event === undefined) throw new NoMessagesApi(first);
        return take(event);
      }
      lines(true);
      if (assembly.isForeign() && first.trim() !== '') throw new NoMessagesApi(first);
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

/** A whole answer as an event, or the fault that came instead. Undefined if the text is neither. */
function toMessage(text: string): Fields | undefined {
  const fields = json(text);
  if (fields === undefined || isFault(fields)) return fields;
  return 'content' in fields ? { ...fields, type: 'message' } : undefined;
}

function kindOf(text: string): 'events' | 'json' | 'page' | undefined {
  const start = text.replace(/^\ufeff?\s*/, '').at(0);
  if (start === undefined) return undefined;
  if (start === '<') return 'page';
  return start === '{' ? 'json' : 'events';
}

type Fields = Readonly<Record<string, unknown>>;

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
