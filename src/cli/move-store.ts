import path from 'node:path';
import { isServed } from '../channels/terminal/control.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import { OperatorError } from '../core/errors.ts';
import { moveFoldersOut, refuseFilledFolders } from '../folders/move-out.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { storeFileOf } from '../operator/archive/archive-parts.ts';
import { fetchWritten } from '../skills/bring-written.ts';
import { writtenRoot } from '../skills/open-library.ts';
import { createWrittenSkills } from '../skills/written-skills.ts';
import { moveRows, type Moved } from '../store/move/move-rows.ts';
import { fillDatabase, readDatabase } from '../store/move/postgres-side.ts';
import { fillFileStore, leftBeside, readFileStore } from '../store/move/sqlite-side.ts';
import { openStore } from '../store/open-store.ts';
import type { SharedOptions } from './command.ts';
import { guardOutput, print, progressLine, untilInterrupted } from './console.ts';
import { openStoreConfig } from './open-config.ts';
import { openLog } from './open-log.ts';
import { skilletHere } from '../core/skillet-here.ts';
import type { StoredFiles } from '../store/stored-files.ts';

type How = Parameters<typeof moveRows>[2];
type Result = Readonly<{ moved: readonly Moved[]; notes: readonly string[] }>;

/** Copies the store to the other kind of store while no bot uses either (Q16). */
export async function moveStore({
  config: flag,
  to,
}: SharedOptions & Readonly<{ to: string }>): Promise<void> {
  const config = await openStoreConfig(flag);
  const target = targetOf(to);
  if (isAddress(target) === isAddress(config.store.url)) throw new OperatorError(sameKind(target));
  if (await isServed(config.bot.dataDir)) throw new OperatorError('The bot runs: stop it first.');
  using interrupted = untilInterrupted(
    new OperatorError('The move was stopped. Nothing was changed; to begin again, run it again.'),
  );
  const progress = progressLine();
  const how: How = {
    signal: interrupted.signal,
    onRows: (table, rows) => progress.show(`${table}: ${rows.toLocaleString('en')} rows`),
  };
  const { moved, notes } = await (
    isAddress(target) ? toDatabase(config, target, how) : toFile(config, target, how)
  ).finally(progress.end);
  print(['Moved, and compared row by row:', ...tableOf(moved), ...notes].join('\n'));
}

async function toDatabase(config: Config, url: string, how: How): Promise<Result> {
  const file = storeFileOf(config);
  if (file === undefined)
    throw new OperatorError('A store in memory ends with its process: nothing to move.');
  const { log } = openLog(config, 'warn');
  guardOutput(createRedactor([config, { ...config, store: { url } }].flatMap(secretsOfConfig)));
  const moved = await readFileStore(file, (from) => fillDatabase(url, log, (to) => moveRows(from, to, how)));
  return {
    moved,
    notes: [
      `Nothing was changed in ${file}: keep it until you trust the database.`,
      'Files of conversations follow at the first start, out of the workspace.',
      'Now write the address into the config, such as url = "$DATABASE_URL" under [store], and start the bot.',
    ],
  };
}

async function toFile(config: Config, target: string, how: How): Promise<Result> {
  const file = path.resolve(target);
  const { workspace } = config.bot;
  const { log } = openLog(config, 'warn');
  await refuseFilledFolders(workspace);
  return readDatabase(config.store.url, log, async ({ store, files }) => {
    let filesMoved = 0;
    const moved = await fillFileStore(file, async (to) => {
      const rows = await moveRows(store, to, how);
      filesMoved = await moveFoldersOut(workspace, files, how.signal);
      return rows;
    });
    await bringSkills(config, file, files);
    return {
      moved,
      notes: [
        `Files of conversations, now in ${workspace}: ${filesMoved}.`,
        'Nothing was changed in the database.',
        ...leftBeside(file).map((left) => `${left} is from a move that was killed: remove it.`),
        `Now write url = "sqlite:${target}" under [store] of the config, and start the bot.`,
      ],
    };
  });
}

/** Fetches the skills that the bot wrote, because their newest versions may be only in the database. */
async function bringSkills(config: Config, file: string, files: StoredFiles): Promise<void> {
  const store = await openStore(`sqlite:${file}`);
  try {
    await fetchWritten(writtenRoot(config), createWrittenSkills(store).all, files);
  } finally {
    await store.close();
  }
}

/**
 * The address that `to` stands for. `$NAME` is a variable, as in the config, because everybody on the machine sees a
 * command line.
 */
function targetOf(to: string): string {
  const [, name] = /^\$([A-Z_][A-Z0-9_]*)$/.exec(to) ?? [];
  const target = name === undefined ? to : (process.env[name] ?? '');
  if (target === '')
    throw new OperatorError(`${to} is not set. Set it, or put it into .env beside the config.`);
  return target.replace(/^sqlite:/, '');
}

function isAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

function sameKind(target: string): string {
  return isAddress(target)
    ? 'Both are PostgreSQL databases: use pg_dump and pg_restore.'
    : `Both are SQLite files: use \`${skilletHere()} backup\` and \`${skilletHere()} restore\`, or stop the bot and move the file.`;
}

function tableOf(moved: readonly Moved[]): readonly string[] {
  const width = Math.max(...moved.map(({ table }) => table.length));
  const row = (table: string, rows: string, checksum: string): string =>
    `  ${table.padEnd(width)}  ${rows.padStart(12)}  ${checksum}`;
  return [
    row('table', 'rows', 'checksum'),
    ...moved.map(({ table, rows, checksum }) => row(table, rows.toLocaleString('en'), checksum)),
  ];
}
