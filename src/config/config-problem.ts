import { readFileSync } from 'node:fs';
import { parse, type TomlError } from 'smol-toml';
import type { z } from 'zod';
import { nearest } from '../lib/text/text.ts';
import { locateKeys, type Place } from './locate-keys.ts';
import { isSecretKey } from './secrets-of-config.ts';
import { formatKeyPath, valueAt, type FromEnvironment, type KeyPath } from './section.ts';

const fixes: readonly (readonly [RegExp, string])[] = [
  [/excessively nested/, 'lists and tables are nested too deeply: write fewer brackets'],
  [/unsafe property/, 'the names __proto__ and constructor cannot be used here: choose another'],
  [/redefine|already defined/, 'this key or table occurs twice: keep one'],
  [
    /unfinished string|control characters are not allowed in strings/,
    'a text ends without its closing quote: add it',
  ],
  [/escape/, 'a backslash in "…" starts an escape: write \\\\ or use single quotes'],
  [/unfinished (array|table)|expected comma/, 'a list or table is not closed, or a comma is missing: fix it'],
  [/end of table array/, 'a list of tables begins with [[NAME]]: add the missing bracket'],
  [/followed by an end-of-line/, 'write each key on its own line'],
  [
    /key/,
    'write KEY = VALUE, or [NAME] with its closing bracket; put a key with characters other than A-Z, a-z, 0-9, _ and - in quotes',
  ],
  [/represented losslessly/, 'the number is too long: write it in quotes'],
  [/date|value|numeric|zero|underscore/, 'write text in quotes; only numbers, true and false have none'],
];

const kinds: Readonly<Record<string, string>> = {
  string: 'write text in quotes',
  number: 'write a number',
  int: 'write a whole number',
  boolean: 'write true or false',
  array: 'write a list in brackets, such as ["a", "b"]',
  object: 'write a table',
  record: 'write a table',
};

/** Something wrong with the config. `message` is one sentence with the fix, without secrets (G2). */
export type ConfigProblem = Readonly<{
  file?: string;
  /** Line in the file, counted from 1. */
  line?: number;
  column?: number;
  /** The key as an operator writes it, such as `telegram.mode`. */
  key?: string;
  /** What was found there, shortened; of a secret only its type. */
  found?: string;
  message: string;
}>;

/** Writes a problem on one line: `config.toml:12:3: telegram.mode is "pull": write "polling" or "webhook".` */
export function formatConfigProblem({ file, line, column, message }: ConfigProblem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return place === '' ? message : `${place}: ${message}`;
}

/** Matches a mistyped choice, which can't be a credential. */
const plainWord = /^[a-z]{0,12}$/i;

/** Keys of ids, zones and languages. What is written there is quoted if it can't be a credential. */
const publicKeys: ReadonlySet<unknown> = new Set([
  ...['owner', 'users', 'groups', 'approvers', 'chat', 'sender', 'allow_users', 'allow_chat_ids'],
  ...['timezone', 'language', 'conversation'],
]);

/**
 * Matches a name, a zone or a plain number, perhaps with a channel before it. Passwords and tokens mix letters with
 * digits.
 */
const publicText = /^(?:[a-z]{1,10}:|[@#])?(?:-?\d{1,16}|[A-Za-z]{1,20}(?:[ /_-][A-Za-z]{1,20}){0,2})$/;

function isPublic(path: KeyPath, text: string): boolean {
  const key = path.filter((part) => typeof part === 'string').at(-1);
  const isOwn = !['tools', 'plugins', 'mcp'].includes(String(path[0]));
  return isOwn && publicKeys.has(key) && publicText.test(text);
}

/**
 * Describes a value so that it is safe to print (S12). Only likely misspelt choices and public text are quoted, because
 * other text may be a credential.
 */
export function describeFound(
  value: unknown,
  isSecret: boolean,
  isChoice = false,
  isPublicText = false,
): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a table';
  if (typeof value === 'string') {
    if (isSecret) return 'text that is not shown';
    if (value === '' || (isChoice && plainWord.test(value)) || isPublicText) return JSON.stringify(value);
    return `text of ${value.length} characters`;
  }
  if (isSecret) return typeof value === 'boolean' ? 'true or false' : 'a number';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'of no known kind';
}

/** Describes what is at a path. For a value from an environment variable it names the variable. */
export function foundAt(
  path: KeyPath,
  value: unknown,
  fromEnvironment: readonly FromEnvironment[],
  { isSecret = isSecretKey(path), isChoice = false }: Readonly<{ isSecret?: boolean; isChoice?: boolean }>,
): string {
  const key = JSON.stringify(path);
  const variable = fromEnvironment.find((one) => JSON.stringify(one.path) === key);
  return variable === undefined
    ? describeFound(value, isSecret, isChoice, isPublic(path, String(value)))
    : `the value of $${variable.name}`;
}

type Where = Readonly<{ file?: string | undefined; place: Place | undefined; path: KeyPath }>;

/** Makes a problem of one key: `KEY is FOUND: WRITE.` */
export function keyProblem({ file, place, path }: Where, found: string, write: string): ConfigProblem {
  const key = formatKeyPath(path);
  return { file, ...place, key, found, message: `${key} is ${found}: ${write}.` };
}

/** Makes a problem of an unknown key. It suggests the key that was probably meant, or says `otherwise`. */
export function unknownKeyProblem(
  where: Where,
  known: readonly string[],
  otherwise = `known here: ${known.join(', ')}.`,
): ConfigProblem {
  const found = 'not a known key';
  const guess = meantKey(String(where.path.at(-1)), known);
  const write = guess === undefined ? otherwise : `did you mean ${guess}?`;
  return { ...keyProblem(where, found, ''), message: `${formatKeyPath(where.path)} is ${found}: ${write}` };
}

/** Words that people use for the same thing. One of each line is in the real key. */
const sameWords = [
  'usd dollar dollars cost costs money spend spending euro euros',
  'day daily days',
  'month monthly months',
  'owner owners admin admins administrator administrators',
  'users user people person members member allowed',
  'groups group rooms room channels channel',
  'dir folder directory path',
  'seconds second sec secs',
  'url uri endpoint address',
  'timezone tz zone',
  'requests calls',
].map((line) => line.split(' '));
const fillers: ReadonlySet<string> = new Set(['per', 'a', 'the', 'max', 'maximum', 'limit', 'budget']);

/**
 * Finds the key that was meant, by its words and then by its letters: `dollars_per_day` is `usd_per_day`, not
 * `tokens_per_day`.
 */
function meantKey(word: string, known: readonly string[]): string | undefined {
  const meaning = (key: string): string => {
    const words = key.toLowerCase().split(/[_-]/);
    const meant = words
      .filter((part) => !fillers.has(part))
      .map((part) => sameWords.find((same) => same.includes(part))?.[0] ?? part);
    return [...new Set(meant)].sort().join(' ');
  };
  const meant = meaning(word);
  return known.find((key) => meaning(key) === meant) ?? nearest(word, known)[0];
}

/** Says what to write instead. A message of the schema's own takes precedence. */
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
        ? "it can't be empty: write a value or remove the line"
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

/** Finds the lines of keys in the file. The result returns undefined for every key if the file can't be read. */
export function placeInFile(file: string | undefined): (path: KeyPath) => Place | undefined {
  try {
    const text = file === undefined ? '' : readFileSync(file, 'utf8');
    parse(text);
    return locateKeys(text);
  } catch {
    // The file was edited since, so messages go without a line.
    return () => undefined;
  }
}

/** Whether a key is written in a config file as it is saved now; false if it can't be read. */
export function writtenInFile(file: string | undefined): (path: KeyPath) => boolean {
  try {
    const data = file === undefined ? {} : parse(readFileSync(file, 'utf8'));
    return (path) => valueAt(data, path) !== undefined;
  } catch {
    // The file was edited since and can't be read.
    return () => false;
  }
}

/** Describes a TOML error in our words, because the parser's message quotes the file. */
export function describeSyntaxError(error: TomlError): ConfigProblem {
  const [first = ''] = error.message.split('\n');
  const fix = fixes.find(([pattern]) => pattern.test(first))?.[1] ?? 'fix it as https://toml.io says';
  return {
    line: error.line,
    column: error.column,
    message: `Invalid TOML: ${fix}.`,
  };
}
