import { InvalidArgumentError } from 'commander';

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
