import { askControl, controlPath, type Operation } from '../app/control.ts';
import { openOperate } from '../app/open-operate.ts';
import type { PairingRequest } from '../app/pairing.ts';
import type { Paired } from '../app/people.ts';
import type { ListedItem } from '../stores/store.ts';
import type { ReadOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './print.ts';

/** `pair list`: owners, paired people and who waits for a yes. */
export async function pairList({ config, json }: ReadOptions): Promise<void> {
  const data = (await operate('pair list', '', config)) as {
    pending: PairingRequest[];
    paired: Paired[];
    owners: string[];
  };
  if (json === true) return printJson(data);
  const date = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  print(
    [
      ...data.owners.map((owner) => `owner    ${owner}`),
      ...data.paired.map(
        ({ sender, name, since }) => `paired   ${sender}  ${JSON.stringify(name)}  since ${date(since)}`,
      ),
      ...data.pending.map(
        ({ code, sender, name, expiresAt }) =>
          `pending  ${code}  ${sender}  ${JSON.stringify(name)}  until ${date(expiresAt)}`,
      ),
    ].join('\n') || 'Nobody is paired and nobody asks.',
  );
}

/** `inbox list`: what was set aside, or with `--waiting` what waits (Q3). */
export async function inboxList({
  config,
  json,
  waiting,
}: ReadOptions & { waiting?: boolean }): Promise<void> {
  const items = (await operate('inbox list', waiting === true ? 'waiting' : 'dead', config)) as ListedItem[];
  if (json === true) return printJson(items);
  const line = ({ key, tries, error }: ListedItem): string =>
    `${key}  ${tries} tries${error === undefined ? '' : `  ${error}`}`;
  print(items.map(line).join('\n') || (waiting === true ? 'Nothing waits.' : 'Nothing was set aside.'));
}

/** An operation that changes one thing and says what it did. */
export async function operator(operation: string, argument: string, { config }: ReadOptions): Promise<void> {
  printJson(await operate(operation as Operation, argument, config));
}

/** Through the running bot, else on the store itself (Q9). */
async function operate(operation: Operation, argument: string, flag: string | undefined): Promise<unknown> {
  const config = await openConfig(flag);
  const asked = await askControl(controlPath(config.bot.dataDir), operation, argument);
  if (asked !== undefined) return asked.data;
  const { operate: perform, close } = await openOperate(config);
  try {
    return await perform(operation, argument);
  } finally {
    await close();
  }
}
