import { existsSync } from 'node:fs';
import path from 'node:path';
import { isServed } from '../channels/terminal/control.ts';
import { OperatorError } from '../core/errors.ts';
import { restoreFile } from '../store/sqlite/restore-file.ts';
import type { Shared } from './command.ts';
import { agree, isYes, print } from './console.ts';
import { openStoreConfig } from './open-config.ts';

/** Puts a backup in the store's place (L16). */
export async function restore(given: Shared & Readonly<{ file: string; yes?: boolean }>): Promise<void> {
  const { config: flag, yes = false } = given;
  const config = await openStoreConfig(flag);
  const from = path.resolve(given.file);
  const to = /^sqlite:(.+)$/s.exec(config.store.url)?.[1];
  if (to === undefined || to === ':memory:')
    throw new OperatorError('This store is no file: restore a PostgreSQL database with pg_restore or psql.');
  if (await isServed(config.bot.dataDir)) throw new OperatorError('The bot runs: stop it first.');
  const question = existsSync(to) ? `Put ${from} in the place of ${to}?` : `Write ${to} from ${from}?`;
  const answer = await agree(question, yes);
  if (
    !isYes(answer, {
      unasked: `${question} Nobody can be asked here: say --yes.`,
      no: 'Nothing was changed.',
    })
  )
    return;
  const { kept } = restoreFile(from, to);
  print(
    `${to} is restored.${kept === undefined ? '' : ` What was there is ${kept}.`} Start the bot: skillet start`,
  );
}
