import { unwatchFile, watchFile, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Surroundings, Config } from './complete-config.ts';
import { lostKeys } from './lost-keys.ts';
import { parseConfig, type ParsedConfig } from './parse-config.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { systemClock, type Clock } from '../lib/clock.ts';

const pollMs = 250;

const settleMs = 80;
/**
 * How long a file that lost keys has to stay unchanged. It is longer than a slow editor, copy or network disk pauses.
 */
const lossMs = 5_000;

const emptied = 'emptied';

/** Where to look for the config. `flag` is the value of `--config`. */
type ConfigSearch = Readonly<{
  flag?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  home?: string;
  mayLack?: Surroundings['mayLack'];
}>;

/**
 * The absolute path of the config: from `--config`, `$SKILLET_CONFIG`, `./config.toml` or `~/.skillet/config.toml`
 * (G1). The last two count only if they exist.
 */
export async function findConfigPath(search: ConfigSearch): Promise<string | undefined> {
  const { flag, env, cwd = process.cwd(), home = homedir() } = search;
  const named = flag ?? (env['SKILLET_CONFIG'] || undefined);
  if (named !== undefined) return path.resolve(cwd, named);
  for (const candidate of [path.join(cwd, 'config.toml'), path.join(home, '.skillet', 'config.toml')]) {
    if (await exists(candidate)) return candidate;
  }
  return undefined;
}

/** Path of the `.env` beside the config file, where variables may be set that the environment lacks (G5). */
export function envFileOf(file: string): string {
  return path.join(path.dirname(file), '.env');
}

/** Loads the config. If there is no file, the result has defaults and no `path`. A file that was named has to exist. */
export async function loadConfig(search: ConfigSearch): Promise<ParsedConfig> {
  const file = await findConfigPath(search);
  const { env, cwd = process.cwd(), home = homedir(), mayLack } = search;
  return file === undefined
    ? parseConfig('', { env, cwd, home })
    : readConfigFile({ file, env, cwd, home, mayLack });
}

/** Reads a config file. If it can't be read, that is a problem, too. */
export async function readConfigFile(surroundings: Surroundings & { file: string }): Promise<ParsedConfig> {
  const { file, cwd = process.cwd() } = surroundings;
  const problem = (message: string): ParsedConfig => ({ ok: false, problems: [{ file, message }] });
  const read = await readFile(path.resolve(cwd, file)).catch((error: NodeJS.ErrnoException) => error);
  if (read instanceof Error) return problem(cannotRead(read));
  const text = read.toString('utf8');
  if (!Buffer.from(text).equals(read)) return problem('The config file is not UTF-8: save it as UTF-8 text.');
  return parseConfig(text, surroundings);
}

function cannotRead(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return `There is no such config file: create one with \`${skilletHere()} init\`, or name another with --config.`;
    case 'EACCES':
      return "This user can't read the config file: fix that with chown or chmod 600.";
    case 'EISDIR':
      return 'The config path is a folder: name the file in it.';
    default:
      return `The config file cannot be read (${error.code ?? error.message}): fix the path or the disk.`;
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

type ConfigWatch = Readonly<{ current(): Config; stop(): void }>;

/**
 * Watches the config file. A valid edit replaces `current()` and calls `onChange` within a second; an invalid one is
 * reported once (G3). Edits without effect are ignored. An edit that lost keys may be half written, so it counts after
 * five seconds without a change (S15).
 */
export function watchConfig(
  config: Config,
  options: Omit<ConfigSearch, 'flag'> &
    Readonly<{ onChange: (outcome: ParsedConfig, lost: readonly string[]) => void; clock?: Clock }>,
): ConfigWatch {
  const { onChange, clock = systemClock, ...surroundings } = options;
  const { path: file } = config;
  let current = config;
  let told: ParsedConfig = { ok: true, config };
  let text: string | undefined;
  let state: 'idle' | 'checking' | 'again' | 'stopped' = 'idle';
  if (file === undefined) return { current: () => current, stop: () => undefined };

  const check = async (): Promise<void> => {
    if (state !== 'idle') {
      if (state === 'checking') state = 'again';
      return;
    }
    do {
      state = 'checking';
      const before = await settled(file, clock, isStopped);
      // Editors empty a file before they write it.
      if (before === emptied) continue;
      const written = await readFile(file, 'utf8').catch(() => '');
      const outcome = await readConfigFile({ ...surroundings, file });
      const after = await fingerprint(file);
      if (isStopped()) return;
      if (after !== before) {
        // It changed while it was read, and may have been empty, which would mean all defaults.
        state = 'again';
        continue;
      }
      const lost = outcome.ok && text !== undefined ? lostKeys(text, written) : [];
      if (lost.length > 0 && !(await stays(file, before, { clock, isStopped }))) {
        state = 'again';
        continue;
      }
      if (outcome.ok) text = written;
      if (isStopped() || isDeepStrictEqual(outcome, told)) continue;
      told = outcome;
      if (outcome.ok) current = outcome.config;
      onChange(outcome, lost);
    } while (isWantedAgain());
    if (!isStopped()) state = 'idle';
  };
  const isStopped = (): boolean => state === 'stopped';
  const isWantedAgain = (): boolean => state === 'again';
  // Reading the file changes the time of its last access, which also calls this.
  const onStat = (now: Stats, before: Stats): void => {
    if (isOtherFile(now, before)) void check();
  };

  // Only polling notices replaced files, switched symlinks, bind mounts and network disks.
  watchFile(file, { interval: pollMs, persistent: false }, onStat);
  // Something may have been saved between loading and now.
  void check();
  return {
    current: () => current,
    stop() {
      state = 'stopped';
      unwatchFile(file, onStat);
    },
  };
}

/** Whether the file keeps this fingerprint for a while. True if watching stops. */
async function stays(
  file: string,
  seen: string,
  { clock, isStopped }: Readonly<{ clock: Clock; isStopped(): boolean }>,
): Promise<boolean> {
  for (let ms = 0; ms < lossMs && !isStopped(); ms += pollMs) {
    await clock.sleep(pollMs);
    if ((await fingerprint(file)) !== seen) return isStopped();
  }
  return true;
}

function isOtherFile(now: Stats, before: Stats): boolean {
  return now.ino !== before.ino || now.size !== before.size || now.ctimeMs !== before.ctimeMs;
}

/** Resolves with the file's fingerprint once that is stable, or when watching stops. */
async function settled(file: string, clock: Clock, isStopped: () => boolean): Promise<string> {
  let before = await fingerprint(file);
  for (;;) {
    await clock.sleep(settleMs);
    const after = await fingerprint(file);
    if (after === before || isStopped()) return after;
    before = after;
  }
}

async function fingerprint(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs }) => (size === 0 ? emptied : `${ino}:${size}:${mtimeMs}`),
    (error: NodeJS.ErrnoException) => String(error.code),
  );
}
