import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import { operatorText } from '../core/operator-text.ts';
import { describeSyntaxError } from './config-problem.ts';
import { chatType } from './section.ts';

/** Path of the file of access tests, which lies beside the config (L14). */
export function accessTestsOf(config: string): string {
  return path.join(path.dirname(config), 'access.tests.toml');
}

const id = z.string().regex(/^[a-z]+:.+$/, 'write a whole id, such as "telegram:42"');

const expectation = z
  .strictObject({
    who: id,
    /** Id of a chat; undefined: their direct message with the bot. */
    where: id.optional(),
    chat_type: chatType.optional(),
    external: z.boolean().optional(),
    /** True if an owner approved them. */
    paired: z.boolean().optional(),
    skill: z.string().min(1).optional(),
    /** Tests only whether they may talk. */
    talk: z.literal(true).optional(),
    expect: z.enum(['allow', 'deny']),
    /** The expected code of a denial, such as `STRANGER`. */
    code: z.string().optional(),
  })
  .refine(
    ({ skill, talk }) => (skill === undefined) !== (talk === undefined),
    'write either skill or talk = true',
  );

export type AccessTest = z.output<typeof expectation>;

const file = z.strictObject({ test: z.array(expectation).min(1) });

/** Reads the access tests. Throws OperatorError with everything that is wrong with the file. */
export function readAccessTests(place: string): readonly AccessTest[] {
  const read = file.safeParse(parsed(place));
  if (read.success) return read.data.test;
  const lines = read.error.issues.map(({ path: at, message }) => {
    const [, number, ...rest] = at;
    const which =
      typeof number === 'number'
        ? `test ${number + 1}${rest.length === 0 ? '' : `, ${rest.join('.')}`}: `
        : '';
    return `${place}: ${which}${message}`;
  });
  throw new OperatorError(lines.join('\n'));
}

function parsed(place: string): unknown {
  try {
    return parse(operatorText(readFileSync(place), place));
  } catch (error) {
    if (error instanceof TomlError) {
      const { line, column, message } = describeSyntaxError(error);
      throw new OperatorError(`${place}:${line}:${column}: ${message}`, { cause: error });
    }
    if (error instanceof Error && 'code' in error)
      throw new OperatorError(
        `${place} can't be read (${String(error.code)}): write [[test]] tables into it.`,
      );
    throw error;
  }
}
