import { z } from 'zod';

export type OnProgress = (done: number, total: number) => void;

/** What an operator can ask for: by the command line, the control socket, or a page. */
export type Operation<Input, Output> = Readonly<{
  input: z.ZodType<Input>;
  /** True if the operation changes nothing. */
  readOnly: boolean;
  /** True if it works on the store itself while no bot runs (Q9). */
  offline: boolean;
  /** Runs the operation and returns plain data. What it throws is shown to the operator. */
  run(input: Input, onProgress?: OnProgress): Promise<Output>;
}>;

/** Operations by their names. Each reads its own input, so the table does not know its type. */
export type Operations = Readonly<
  Record<string, Readonly<{ input: z.ZodType; readOnly: boolean; offline: boolean; run: unknown }>>
>;

type Run<Input, Output> = Operation<Input, Output>['run'];

export function reads<Input, Output>(
  input: z.ZodType<Input>,
  run: Run<Input, Output>,
): Operation<Input, Output> {
  return { input, readOnly: true, offline: true, run };
}

export function changes<Input, Output>(
  input: z.ZodType<Input>,
  run: Run<Input, Output>,
): Operation<Input, Output> {
  return { input, readOnly: false, offline: true, run };
}

/** What is changed, and who changes it, for the audit. */
export const target = z.object({ id: z.string().min(1), by: z.string().min(1).optional() });
/** Who made a change that nobody is named for. */
export const unnamed = 'operator';

export const noInput = z.undefined();
export const textInput = z.string().min(1).max(10_000);

/** What an operator sees in place of the words of a direct message (S8). */
export const direct = '(direct)';
