import type { z } from 'zod';
import { nearest } from '../lib/text/nearest.ts';

/** Whether a plugin's author made it with zod 4: the bot's own, or a copy that the plugin brought. */
export function isZod(value: unknown): value is z.ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value;
}

/** What is wrong with options that an author wrote, on one line: each with what to write. `known`: the options there are. */
export function describeOptions({ issues }: z.ZodError, known: readonly string[]): string {
  return issues
    .flatMap((issue) => {
      if (issue.code === 'unrecognized_keys' && issue.path.length === 0)
        return issue.keys.map((key) => unknownOption(key, known));
      return [issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`];
    })
    .join('; ');
}

function unknownOption(key: string, known: readonly string[]): string {
  const [guess] = nearest(key, known);
  return `${key} is no option: ${guess === undefined ? 'remove it' : `did you mean ${guess}?`}`;
}
