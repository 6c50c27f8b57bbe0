import { chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../config/load-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { byteSize } from '../lib/text/text.ts';
import type { ArchiveGroup } from '../operator/archive/archive-parts.ts';
import { writeArchive, type Held } from '../operator/archive/write-archive.ts';
import { makeFolders } from '../store/make-folders.ts';
import { refuseTaken } from '../store/write-whole.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, untilInterrupted } from './console.ts';
import { loadEnvFile } from './env-file.ts';
import { guardSecrets } from './open-config.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { untilAborted } from '../lib/async/on-abort.ts';

const dayMs = 86_400_000;

/** Writes all of a bot as one file, while it runs or not (L16). Progress goes to standard error (L9). */
export async function backup(
  given: SharedOptions & Readonly<{ file: string; secrets?: boolean }>,
): Promise<void> {
  const file = path.resolve(given.file);
  refuseTaken(file);
  const config = await openPlaces(given.config);
  const { dataDir } = config.bot;
  using interrupted = untilInterrupted(new OperatorError('The backup was stopped. Nothing was left behind.'));
  const { signal } = interrupted;
  const copies = folderForCopy(dataDir);
  try {
    const copy = path.join(copies, 'store.db');
    const { copied } = await untilAborted(askBot(given.config, 'backup', copy, showProgress()), signal);
    const { held, leftOut } = await writeArchive(file, {
      ...{ config, signal, secrets: given.secrets === true },
      copy: copied ? copy : undefined,
    });
    const { size: bytes } = statSync(file);
    if (given.json === true) return printJson({ file, bytes, store: copied, held, leftOut });
    print(
      [
        `${file} is written (${byteSize(bytes)}), readable only by you. It contains:`,
        ...heldLines(held),
      ].join('\n'),
    );
    for (const line of notes({ copied, held, leftOut })) print(line);
    print(`To restore it into an empty folder: ${skilletHere()} restore ${file} --to FOLDER`);
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

/** A new folder for the copy, in the data directory because the bot may write there. */
function folderForCopy(dataDir: string): string {
  makeFolders(dataDir, 0o700);
  const prefix = path.join(dataDir, 'backup-');
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith('backup-'))) {
    // It may be left from a backup that was killed.
    const left = path.join(dataDir, name);
    if (statSync(left).mtimeMs < Date.now() - dayMs) rmSync(left, { recursive: true, force: true });
  }
  const folder = mkdtempSync(prefix);
  const { uid, gid } = statSync(dataDir);
  if (process.getuid?.() === 0) chownSync(folder, uid, gid);
  return folder;
}

/**
 * Reads the config. Only keys that say where files are must be complete, because the bot may run with variables that
 * this shell lacks (L1). Throws OperatorError.
 */
async function openPlaces(flag: string | undefined): Promise<Config> {
  await loadEnvFile(flag);
  const places = ['skills.user_dir', 'capabilities.key_file'];
  const parsed = await loadConfig({
    ...{ flag, env: process.env },
    mayLack: (key) => key[0] !== 'bot' && !places.includes(key.join('.')),
  });
  if (!parsed.ok) throw new OperatorError(parsed.problems.map(formatConfigProblem).join('\n'));
  guardSecrets(parsed.config);
  return parsed.config;
}

function showProgress(): (done: number, total: number) => void {
  const onTerminal = process.stderr.isTTY;
  let shown = -1;
  return (done, total) => {
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    // A log gets only every tenth percent.
    if (percent === shown || (!onTerminal && percent < 100 && percent - shown < 10)) return;
    shown = percent;
    const end = percent === 100 ? '\n' : '';
    process.stderr.write(onTerminal ? `\r${percent} %${end}` : `${percent} %\n`);
  };
}

const words: Readonly<Record<ArchiveGroup, string>> = {
  config: 'the config',
  secrets: 'the tokens of .env',
  store: 'conversations, people, approvals, everything in queues',
  keys: 'for the audit and linked accounts',
  audit: 'the record of what the bot did',
  skills: 'skills that you or the bot installed or wrote',
  files: 'files of people, of skills and of running work',
};

function heldLines(held: readonly Held[]): readonly string[] {
  return Object.entries(words).flatMap(([group, about]) => {
    const of = held.filter((one) => one.group === group);
    if (of.length === 0) return [];
    const files = of.reduce((sum, one) => sum + one.files, 0);
    const bytes = of.reduce((sum, one) => sum + one.bytes, 0);
    return [`  ${group.padEnd(8)} ${about}: ${files} ${files === 1 ? 'file' : 'files'}, ${byteSize(bytes)}`];
  });
}

function notes({
  copied,
  held,
  leftOut,
}: Readonly<{ copied: boolean; held: readonly Held[]; leftOut: readonly string[] }>): readonly string[] {
  const has = (group: ArchiveGroup): boolean => held.some((one) => one.group === group);
  return [
    ...(copied
      ? []
      : ['Not the database: copy it with pg_dump --format=custom --file=FILE and the URL of [store] url.']),
    ...(has('config') && !has('secrets') ? ['Without .env: --secrets includes it.'] : []),
    ...(leftOut.length > 0
      ? [
          `Left out, because these are links or can't be read: ${leftOut.slice(0, 5).join(', ')}${leftOut.length > 5 ? ` and ${leftOut.length - 5} more` : ''}.`,
        ]
      : []),
    ...(has('keys') ? ['Keep this file secret: it gives access to linked accounts.'] : []),
  ];
}
