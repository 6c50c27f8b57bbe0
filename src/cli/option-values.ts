import { InvalidArgumentError } from 'commander';

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
