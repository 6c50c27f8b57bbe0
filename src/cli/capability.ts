import { OperatorError } from '../core/errors.ts';
import { oneLine, printable } from '../lib/text/text.ts';
import { askBot } from './ask-bot.ts';
import type { ReadOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `capability list`: each provider of the config and what it offers, or why it does not. */
export async function capabilityList({ config, json }: ReadOptions): Promise<void> {
  const answer = await askBot(config, 'capability list');
  if (json === true) return printJson(answer);
  const { offered, problems } = answer;
  const lines = offered.flatMap(({ namespace, command, problem, capabilities }) => [
    `${namespace}  ${printable(command.join(' '))}`,
    ...(problem === undefined ? [] : [`  not usable: ${printable(problem)}`]),
    ...capabilities.flatMap(({ id, description, operations }) => [
      `  ${id}  ${printable(oneLine(description, 80))}`,
      `    ${operations.map(({ name, mutating }) => (mutating ? `${name} (asks)` : name)).join(', ')}`,
    ]),
  ]);
  const wrong = problems.map((problem) => `not used: ${printable(problem)}`);
  print([...lines, ...wrong].join('\n') || 'No capability provider is set up.');
}

/** `capability accounts`: who has linked what. */
export async function capabilityAccounts({ config, json }: ReadOptions): Promise<void> {
  const accounts = await askBot(config, 'capability accounts');
  if (json === true) return printJson(accounts);
  const lines = accounts.map(
    ({ sender, capability, ref, linkedAt }) =>
      `${printable(sender)}  ${capability}  ${printable(ref)}  since ${new Date(linkedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  );
  print(lines.join('\n') || 'Nobody has linked an account.');
}

/** `capability revoke SENDER CAPABILITY [ACCOUNT]`: the bot does not use an account any more; without a name the only one. */
export async function capabilityRevoke(
  sender: string,
  capability: string,
  named: string | undefined,
  { config }: ReadOptions,
): Promise<void> {
  const accounts = await askBot(config, 'capability accounts');
  const theirs = accounts.filter((one) => one.sender === sender && one.capability === capability);
  const [only, ...others] = named === undefined ? theirs : theirs.filter(({ ref }) => ref === named);
  if (only === undefined)
    throw new OperatorError(
      `${sender} has linked no ${named === undefined ? 'account' : printable(named)} to ${capability}: see \`skillet capability accounts\``,
    );
  if (others.length > 0)
    throw new OperatorError(
      `Name the account: ${theirs.map(({ ref }) => printable(ref)).join(', ')} are linked to ${capability}.`,
    );
  await askBot(config, 'capability revoke', { sender, capability, ref: only.ref });
  print(
    `The bot does not use ${printable(only.ref)} any more. What ${capability.split('.')[0]} itself keeps of it ends there.`,
  );
}
