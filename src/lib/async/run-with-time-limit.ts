import { createContext, runInContext } from 'node:vm';

/** Undefined if `work` is not done after `ms`: it is broken off, also inside a regular expression. */
export function runWithTimeLimit<Value>(
  ms: number,
  work: () => Value,
): Readonly<{ value: Value }> | undefined {
  try {
    return { value: runInContext('work()', createContext({ work }), { timeout: ms }) as Value };
  } catch (error) {
    // It is an Error of the other context.
    if (Reflect.get(Object(error) as object, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
