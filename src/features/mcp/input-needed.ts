import { z } from 'zod';

/** What a server wants to know before it answers a call (X9). `state` goes back to it as it came. */
export type WantedInput = Readonly<{
  requests: Readonly<Record<string, unknown>>;
  state?: string | undefined;
}>;

/** Answers to what a server wants to know, by the names of its requests. */
export type InputAnswers = Readonly<{
  responses: Readonly<Record<string, InputResponse>>;
  state?: string | undefined;
}>;

/** What a person did with a form: they filled it, or said no. */
export type InputResponse = Readonly<
  { action: 'accept'; content: Readonly<Record<string, unknown>> } | { action: 'decline' }
>;

/** A server wants to know something before it answers this call. Nobody has been asked yet. */
export class InputNeeded extends Error {
  readonly wanted: WantedInput;

  constructor(wanted: WantedInput) {
    super('the server asks for something first');
    this.wanted = wanted;
  }
}

const inputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()).default({}),
  requestState: z.string().optional(),
});

/** Returns a result that is one. Throws InputNeeded for one that asks for something first. */
export function completed(result: unknown): unknown {
  const parsed = inputRequired.safeParse(result);
  if (!parsed.success) return result;
  throw new InputNeeded({ requests: parsed.data.inputRequests, state: parsed.data.requestState });
}
