import type { z } from 'zod';

const kinds: Readonly<Record<string, string>> = {
  string: 'write text in quotes',
  number: 'write a number',
  int: 'write a whole number',
  boolean: 'write true or false',
  array: 'write a list in brackets, such as ["a", "b"]',
  object: 'write a table',
  record: 'write a table',
};

/** What an operator should write instead, for each thing the schema can find wrong; the schema's own words win. */
export function whatToWrite(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'array' && typeof issue.input === 'object' && issue.input !== null)
        return 'write a list; where each item is a table, put its name in double brackets, such as [[plugins]]';
      return kinds[issue.expected] ?? `write a ${issue.expected}`;
    case 'invalid_value':
      return `write ${either(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'it may not be empty: write a value or remove the line'
        : `write ${issue.minimum} or more`;
    case 'too_big':
      return `write ${issue.maximum} or less`;
    case 'unrecognized_keys':
      return 'remove it';
    case 'invalid_union':
      return 'write text in quotes, a number, true, false, a list or a table';
    default:
      return 'see config.example.toml for what it may be';
  }
}

function either(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);
}
