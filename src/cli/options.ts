import { InvalidArgumentError } from 'commander';
import type { ChatType } from '../core/conversation.ts';

/** Options of commands that read: `--config` and `--json`. */
export type ReadOptions = Readonly<{ config?: string; json?: boolean }>;

/** Options of `chat`. */
export type ChatOptions = Readonly<{ config?: string; once?: string; as: ChatType; user?: string }>;

/** Options of `forget`. */
export type ForgetOptions = ReadOptions & Readonly<{ yes?: boolean }>;

/** Options of `skill add`. */
export type AddOptions = ReadOptions & Readonly<{ ref?: string; yes?: boolean; name?: readonly string[] }>;

/** A count, as the operator writes it. */
export function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number from 1 to 999999.');
}

/** Every value of an option that may be given again. */
export function gather(one: string, all: readonly string[]): readonly string[] {
  return [...all, one];
}

/** A sender id as the operator writes it. */
export function senderId(text: string): string {
  if (/^[a-z]+:.+$/.test(text)) return text;
  throw new InvalidArgumentError('Write the whole id, such as telegram:42 or slack:U024BE7LH.');
}

/** A text that says something. */
export function filled(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('Write something between the quotes.');
}

/** Reads `notes.book:add={"text":"x"}`, an operation and what to call it with, into those that were given before. */
export function operationInput(text: string, before: object): Readonly<Record<string, unknown>> {
  const [, operation = '', json = ''] = /^([^=:]+:[^=]+)=(\{.*\})$/s.exec(text) ?? [];
  try {
    return { ...before, [operation]: JSON.parse(json) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidArgumentError('Write the operation and a JSON object: \'notes.book:add={"text":"x"}\'.');
  }
}
