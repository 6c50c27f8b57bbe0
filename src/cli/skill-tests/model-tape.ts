import { readFile, writeFile } from 'node:fs/promises';
import type Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import { skillOfRun } from '../../runs/run-prompt.ts';
import { ModelError, OperatorError } from '../../core/errors.ts';
import type { Complete, Model, ModelAnswer, ModelRequest } from '../../core/model.ts';
import { parseJson } from '../../lib/json/json-values.ts';

export type Exchange = Readonly<{
  /** The skill whose run asked. Undefined for the main agent. */
  run?: string | undefined;
  /** What the model was asked last, for people who read the recording. */
  asked?: Anthropic.MessageParam | undefined;
  answer: ModelAnswer;
}>;

const exchange = z.object({
  run: z.string().optional(),
  asked: z.custom<Anthropic.MessageParam>().optional(),
  answer: z.custom<ModelAnswer>(isAnswer),
});
const tape = z.object({ version: z.literal(1), cases: z.record(z.string(), z.array(exchange)) });
export type Tape = z.output<typeof tape>;

/** Reads a recording. Throws OperatorError if the file is none. */
export async function readTape(file: string): Promise<Tape> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new OperatorError(
      `${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const parsed = tape.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new OperatorError(`${file} is no recording of \`skill test --record\``);
}

/** Writes a recording (0600), without secrets. */
export async function writeTape(
  file: string,
  cases: Readonly<Record<string, readonly Exchange[]>>,
  redact: (text: string) => string,
): Promise<void> {
  const clean = (_: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  await writeFile(file, `${JSON.stringify({ version: 1, cases }, clean, 1)}\n`, { mode: 0o600 });
}

export type TapeRecord = Readonly<{
  exchanges: Exchange[];
  /** Why models failed, a sentence each. */
  failures: string[];
}>;

export function taped(model: Model, { exchanges, failures }: TapeRecord): Model {
  const complete: Complete = async (request, signal, onText) => {
    try {
      const answer = await model.complete(request, signal, onText);
      exchanges.push(exchangeOf(request, answer));
      return answer;
    } catch (error) {
      if (!signal.aborted)
        failures.push(`the model failed: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  };
  return { ...model, complete };
}

/** A model that gives recorded answers in order. It throws ModelError if it is asked something else. */
export function replayed(alias: string, recorded: readonly Exchange[]): Model {
  let next = 0;
  return {
    alias,
    contextWindow: 200_000,
    async complete(request, signal, onText) {
      signal.throwIfAborted();
      const one = recorded[next++];
      const run = skillOfRun(request);
      if (one === undefined) throw differs(`the recording has only ${recorded.length} answers`);
      if (one.run !== run)
        throw differs(`answer ${next} was given to ${nameOf(one.run)}, and ${nameOf(run)} asks for it`);
      for (const block of one.answer.content) if (block.type === 'text') onText?.(block.text);
      return one.answer;
    },
  };
}

function exchangeOf(request: ModelRequest, answer: ModelAnswer): Exchange {
  const run = skillOfRun(request);
  return { run, asked: request.messages.at(-1), answer };
}

function nameOf(run: string | undefined): string {
  return run === undefined ? 'the main agent' : `the run of ${run}`;
}

function differs(why: string): ModelError {
  const message = `${why}: record it again`;
  return new ModelError(message, { sentence: message, passing: false });
}

function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { content, stopReason, tokens, model } = value as Readonly<Record<keyof ModelAnswer, unknown>>;
  const blocks = Array.isArray(content) ? (content as readonly Partial<Anthropic.ContentBlock>[]) : [{}];
  return (
    blocks.every((block) => typeof block?.type === 'string') &&
    typeof stopReason === 'string' &&
    typeof tokens === 'object' &&
    typeof model === 'string'
  );
}
