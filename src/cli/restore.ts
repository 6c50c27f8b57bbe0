import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isServed } from '../channels/terminal/control.ts';
import { OperatorError } from '../core/errors.ts';
import { inMinutes } from './console.ts';
import { lineOfPlace, restoreArchive, unpackStore } from '../operator/archive/restore-archive.ts';
import { storeFileOf } from '../operator/archive/archive-parts.ts';
import { restoreFile } from '../store/sqlite/restore-file.ts';
import type { SharedOptions } from './command.ts';
import { agree, isYes, print } from './console.ts';
import { openStoreConfig } from './open-config.ts';
import { skilletHere } from '../core/skillet-here.ts';

type Given = SharedOptions &
  Readonly<{ file: string; to?: string; elsewhere?: boolean; 'store-only'?: boolean; yes?: boolean }>;

/** Puts an archive into an empty place, or a copy of the store where the store is (L16). */
export async function restore(given: Given): Promise<void> {
  const { file, to, config } = given;
  const from = path.resolve(file);
  const isCopy = isDatabase(from);
  if (given['store-only'] === true || isCopy) {
    if (to !== undefined || given.elsewhere === true)
      throw new OperatorError(
        `--to and --elsewhere are for whole backups. ${isCopy ? `${from} is a copy of a store` : 'With --store-only the store'} goes where [store] url says.`,
      );
    return restoreStore(from, given, isCopy);
  }
  if (config !== undefined)
    throw new OperatorError(
      'The archive includes its config. Use --to to choose the folder, without --config.',
    );
  const folder = path.resolve(to ?? '.');
  const {
    head,
    config: path_,
    restored,
    kept,
  } = await restoreArchive(from, folder, {
    env: process.env,
    home: homedir(),
    elsewhere:
      given.elsewhere === true
        ? (places) => print([`These places are outside ${folder}:`, ...places.map(lineOfPlace)].join('\n'))
        : undefined,
  });
  print(`Restored from ${from}, made ${inMinutes(Date.parse(head.at))} by Skillet ${head.skillet}:`);
  for (const { group, at } of restored) print(`  ${group.padEnd(8)} ${at}`);
  for (const { name, at } of kept)
    print(
      `${at} has files already and stays as it is. The archive's are ${name}/ in it: tar -xf ${from} ${name}`,
    );
  if (head.store === 'postgres')
    print('It does not include the database: restore that with pg_restore first.');
  if (!restored.some(({ group }) => group === 'secrets') && path_ !== undefined)
    print(
      `It did not include .env: set the variables that ${path_} names, in the environment or in .env beside it.`,
    );
  const flag = path_ === undefined ? '' : ` --config ${path_}`;
  print(
    `Stop the original bot first, then run: ${skilletHere()} doctor${flag} && ${skilletHere()} start${flag}`,
  );
}

async function restoreStore(from: string, given: Given, isCopy: boolean): Promise<void> {
  const config = await openStoreConfig(given.config);
  const to = storeFileOf(config);
  if (to === undefined)
    throw new OperatorError('This store is a PostgreSQL database: restore it with pg_restore or psql.');
  if (await isServed(config.bot.dataDir)) throw new OperatorError('The bot runs: stop it first.');
  const question = existsSync(to) ? `Put ${from} in the place of ${to}?` : `Write ${to} from ${from}?`;
  const answer = await agree(question, given.yes === true);
  if (
    !isYes(answer, {
      unasked: `${question} There is nobody to ask here: add --yes.`,
      no: 'Nothing was changed.',
    })
  )
    return;
  const { kept } = isCopy ? restoreFile(from, to) : await restoreUnpacked(from, to);
  print(
    `${to} is restored.${kept === undefined ? '' : ` The old one is ${kept}.`} Start the bot: ${skilletHere()} start`,
  );
}

async function restoreUnpacked(from: string, to: string): Promise<ReturnType<typeof restoreFile>> {
  const unpacked = `${to}.unpacked-${randomUUID().slice(0, 8)}`;
  try {
    await unpackStore(from, unpacked);
    return restoreFile(unpacked, to);
  } finally {
    rmSync(unpacked, { force: true });
  }
}

const sqliteMagic = 'SQLite format 3\0';

function isDatabase(file: string): boolean {
  if (!existsSync(file)) throw new OperatorError(`There is no ${file}.`);
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(sqliteMagic.length);
    readSync(descriptor, start);
    return start.toString('latin1') === sqliteMagic;
  } finally {
    closeSync(descriptor);
  }
}
