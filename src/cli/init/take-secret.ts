import { OperatorError } from '../../core/errors.ts';
import type { EnvSecret } from './answers.ts';
import type { Dialog } from './dialog.ts';
import { wrongToken, type TokenKind } from './token-kinds.ts';

/**
 * A secret from its flag, else from the environment, else asked for. Undefined if none is given and nobody can be
 * asked. `again`: the one before did not work, so it is asked for.
 */
export async function takeSecret(
  dialog: Dialog,
  given: Readonly<{
    flag: string | undefined;
    variable: string;
    question: string;
    again: boolean;
    kind?: TokenKind;
  }>,
): Promise<EnvSecret | undefined> {
  const { flag, variable, question, again, kind } = given;
  const wrong = (value: string): string | undefined =>
    kind === undefined ? undefined : wrongToken(kind, value);
  if (!again && flag !== undefined) return fitting(ofFlag(flag, variable), wrong);
  const inEnvironment = process.env[variable];
  if (!again && inEnvironment) {
    const use = !dialog.asks || (await dialog.confirm(`${variable} is in the environment. Use it?`, true));
    const found = { variable, value: inEnvironment, isSet: true };
    const problem = use ? wrong(inEnvironment) : undefined;
    if (problem !== undefined && dialog.asks) dialog.say(`${variable}: ${problem}`);
    else if (use) return fitting(found, wrong);
  }
  if (!dialog.asks) return undefined;
  return { variable, value: await dialog.secret(question, wrong), isSet: false };
}

function fitting(secret: EnvSecret, wrong: (value: string) => string | undefined): EnvSecret {
  const problem = wrong(secret.value);
  if (problem !== undefined) throw new OperatorError(`${secret.variable}: ${problem}`);
  return secret;
}

function ofFlag(flag: string, variable: string): EnvSecret {
  const named = /^\$([A-Z_][A-Z0-9_]*)$/.exec(flag)?.[1];
  if (named === undefined) return { variable, value: flag, isSet: false };
  const value = process.env[named];
  if (!value) throw new OperatorError(`The environment has no ${named}: set it, or give the value itself.`);
  return { variable: named, value, isSet: true };
}
