import { truncate } from '../lib/text/text.ts';
import { defuse } from '../lib/text/escape-labels.ts';
import { byteSize } from '../lib/text/byte-size.ts';
import type { Delivered } from './tool.ts';

/** Delivered files as a model reads of them: names, types and sizes on one line; empty where there are none (T12). */
export function describeDelivered(files: readonly Delivered[]): string {
  if (files.length === 0) return '';
  const each = files.map(({ name, mime, size }) => `${name} (${mime}, ${byteSize(size)})`);
  return `[delivered to the conversation: ${each.join(', ')}]`;
}

/** A text cut to size, and behind that what was delivered. */
export function withDelivered(text: string, artifacts: readonly Delivered[], limit: number): string {
  const note = defuse(describeDelivered(artifacts));
  if (note === '') return truncate(text, limit).text;
  return `${truncate(text, Math.max(0, limit - note.length - 1)).text}\n${note}`;
}
