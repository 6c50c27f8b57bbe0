import { StringDecoder } from 'node:string_decoder';
import type { InParts } from '../../lib/redaction/redact.ts';

type Capped = Readonly<{ text: string; truncated: boolean }>;

/** Keeps the first two thirds and the last third of a text, with a marker between. */
export function capOutput(text: string, cap: number): Capped {
  return joinEnds(text, text, text.length, cap);
}

/** Does the same for a stream, and holds at most twice `cap` characters. */
export function collectOutput(
  cap: number,
  clean: InParts<string>,
): Readonly<{ add(bytes: Buffer): void; end(): Capped }> {
  const decoder = new StringDecoder('utf8');
  let head = '';
  let tail = '';
  let length = 0;
  const take = (text: string): void => {
    length += text.length;
    if (head.length < cap) head += text.slice(0, cap - head.length);
    tail = (tail + text).slice(-cap);
  };
  return {
    add: (bytes) => take(clean.push(decoder.write(bytes))),
    end() {
      take(clean.push(decoder.end()));
      take(clean.end());
      return joinEnds(head, tail, length, cap);
    },
  };
}

/** The last `length` characters, without half a surrogate pair. */
export function wholeEnd(text: string, length: number): string {
  if (length <= 0) return '';
  return text.slice(-length).replace(/^[\udc00-\udfff]/, '');
}

function joinEnds(start: string, end: string, length: number, cap: number): Capped {
  if (length <= cap) return { text: start, truncated: false };
  const head = wholeStart(start, Math.floor((cap * 2) / 3));
  const tail = wholeEnd(end, cap - head.length);
  const missing = length - head.length - tail.length;
  return { text: `${head}\n[… ${missing} characters left out …]\n${tail}`, truncated: true };
}

function wholeStart(text: string, length: number): string {
  return text.slice(0, Math.max(0, length)).replace(/[\ud800-\udbff]$/, '');
}
