import type { AllowedGroup } from '../access/users.ts';
import type { InputOf, OperationName, OutputOf } from '../operator/operations.ts';
import { askBot } from './ask-bot.ts';
import type { ReadOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `pair list`: owners, paired people and requests that wait for approval. */
export async function pairList({ config, json }: ReadOptions): Promise<void> {
  const data = await askBot(config, 'pair list');
  if (json === true) return printJson(data);
  print(
    [
      ...data.owners.map((owner) => `owner    ${owner}`),
      ...data.paired.map(
        ({ sender, name, since }) => `paired   ${sender}  ${JSON.stringify(name)}  since ${date(since)}`,
      ),
      ...data.groups.map((group) => `allowed  ${groupLine(group)}`),
      ...data.ignored.map((group) => `ignored  ${groupLine(group)}`),
      ...data.pending.map(
        ({ code, sender, name, expiresAt }) =>
          `pending  ${code}  ${sender}  ${JSON.stringify(name)}  until ${date(expiresAt)}`,
      ),
    ].join('\n') || 'Nobody is paired, and nobody is waiting for approval.',
  );
}

function groupLine({ id, name, since }: AllowedGroup): string {
  return `${id}  ${JSON.stringify(name)}  since ${date(since)}`;
}

/** `pair claim`: what makes the person who sends it the first owner (A10). */
export async function pairClaim({ config }: ReadOptions): Promise<void> {
  const { claim } = await askBot(config, 'pair claim');
  print(`Within ten minutes, send this to the bot in a direct message:
  on Telegram  /${claim}
  on Slack     ${claim}`);
}

/** `inbox list`: dead letters, or with `--waiting` messages that are not answered yet (Q3). */
export async function inboxList({
  config,
  json,
  waiting,
}: ReadOptions & { waiting?: boolean }): Promise<void> {
  const items = await askBot(config, 'inbox list', waiting === true ? 'waiting' : 'dead');
  if (json === true) return printJson(items);
  const line = ({ key, tries, error, takenAt, stopped }: OutputOf<'inbox list'>[number]): string =>
    [
      `${key}  ${tries} tries`,
      // Nobody works on a dead letter.
      ...(waiting === true && takenAt !== undefined ? [`in work since ${date(takenAt)}`] : []),
      ...(stopped === true ? ['to be stopped'] : []),
      ...(error === undefined ? [] : [error]),
    ].join('  ');
  print(
    items.map(line).join('\n') ||
      (waiting === true
        ? 'Nothing waits.'
        : 'No dead letters. --waiting lists messages that are not answered yet.'),
  );
}

/** `outbox list`: parts of answers that the platform would not take (Q6). */
export async function outboxList({ config, json }: ReadOptions): Promise<void> {
  const parts = await askBot(config, 'outbox list');
  if (json === true) return printJson(parts);
  const line = ({ key, lane, error, at }: OutputOf<'outbox list'>[number]): string =>
    `${key}  to ${lane}  ${date(at)}  ${error}`;
  print(parts.map(line).join('\n') || 'No failed deliveries.');
}

/** `policy list`: standing approvals, given by "Always" (T8). */
export async function policyList({ config, json }: ReadOptions): Promise<void> {
  const rules = await askBot(config, 'policy list');
  if (json === true) return printJson(rules);
  const line = ({
    id,
    tool,
    skill,
    chat,
    sender,
    by,
    since,
    counts,
  }: OutputOf<'policy list'>[number]): string =>
    `${id}  ${tool}${skill === undefined ? '' : ` of ${skill}`}  for ${sender} in ${chat}  by ${by} since ${date(since)}${counts ? '' : '  (has no effect: bash is asked for each time, and a changed tool again)'}`;
  print(rules.map(line).join('\n') || 'No standing approvals.');
}

/** Names of operations that one text tells what to act on. */
type OfText = { [Name in OperationName]: InputOf<Name> extends string ? Name : never }[OperationName];

/** An operation that changes one thing and says what it did. */
export async function operator(operation: OfText, argument: string, { config }: ReadOptions): Promise<void> {
  printJson(await askBot(config, operation, argument));
}

function date(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
