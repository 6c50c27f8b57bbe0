import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Surroundings } from './complete-config.ts';
import { parseConfig, type ParsedConfig } from './parse-config.ts';

/** Where to look. `flag` is what `--config` says. */
export type ConfigSearch = Readonly<{
  flag?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  home?: string;
  mayLack?: Surroundings['mayLack'];
}>;

/**
 * The config file to use: `--config`, else `$SKILLET_CONFIG`, else `./config.toml`, else `~/.skillet/config.toml` (G1).
 * The first two are taken at their word, the others only if they exist. Absolute.
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

/** The config to start with. With no file anywhere it is all defaults and has no `path`; a named file has to exist. */
export async function loadConfig(search: ConfigSearch): Promise<ParsedConfig> {
  const file = await findConfigPath(search);
  const { env, cwd = process.cwd(), home = homedir(), mayLack } = search;
  return file === undefined
    ? parseConfig('', { env, cwd, home })
    : readConfigFile({ file, env, cwd, home, mayLack });
}

/** Reads and parses one file. A file that cannot be read is a problem like any other. */
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
      return 'There is no such config file: copy config.example.toml there, or name another with --config.';
    case 'EACCES':
      return 'The config file may not be read by this user: give it the right with chown or chmod 600.';
    case 'EISDIR':
      return 'The config path is a folder: name the file in it.';
    default:
      return `The config file cannot be read (${error.code ?? error.message}): mend the path or the disk.`;
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}
