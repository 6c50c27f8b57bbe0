import { OperatorError } from '../../core/errors.ts';
import type { Secret } from './answers.ts';
import type { Dialog } from './dialog.ts';

/**
 * A secret from its flag, else from the environment, else asked for. Undefined if nobody has it. `again`: what was there
 * did not work, so it is asked for.
 */
export async function takeSecret(
  dialog: Dialog,
  given: Readonly<{ flag: string | undefined; variable: string; question: string; again: boolean }>,
): Promise<Secret | undefined> {
  const { flag, variable, question, again } = given;
  if (!again && flag !== undefined) return ofFlag(flag, variable);
  const inEnvironment = process.env[variable];
  if (!again && inEnvironment) {
    const use = !dialog.asks || (await dialog.confirm(`${variable} is in the environment. Use it?`, true));
    if (use) return { variable, value: inEnvironment, isSet: true };
  }
  if (!dialog.asks) return undefined;
  return { variable, value: await dialog.secret(question), isSet: false };
}

function ofFlag(flag: string, variable: string): Secret {
  const named = /^\$([A-Z_][A-Z0-9_]*)$/.exec(flag)?.[1];
  if (named === undefined) return { variable, value: flag, isSet: false };
  const value = process.env[named];
  if (!value) throw new OperatorError(`The environment has no ${named}: set it, or give the value itself.`);
  return { variable: named, value, isSet: true };
}
