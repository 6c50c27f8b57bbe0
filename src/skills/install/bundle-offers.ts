import { stringify } from 'smol-toml';
import { inspectFiles, type BundleOffer } from './install-offers.ts';
import { sha256Of } from './hash-skill.ts';
import { sizeText, type InstallLimits, type SourceSnapshot } from './install-source.ts';
import type { Bundle, BundleServer } from './read-bundles.ts';

/** A bundle with the files that its servers need, exactly as they would be kept, or why they are not kept. */
export type OfferedBundle = Readonly<{
  bundle: Bundle;
  offer?: BundleOffer | undefined;
  notes: readonly string[];
}>;

/** A name that can be a folder, and stand in config.toml. */
const plainName = /^[a-zA-Z0-9][\w.-]{0,63}$/;

/** Reads the files of the bundles whose servers need some (F12). */
export async function readBundleFiles(
  snapshot: SourceSnapshot,
  bundles: readonly Bundle[],
  limits: InstallLimits,
): Promise<readonly OfferedBundle[]> {
  const read: OfferedBundle[] = [];
  for (const bundle of bundles) {
    const needs = bundle.refused === undefined && bundle.servers.some(({ needsFiles }) => needsFiles);
    read.push(needs ? await readFilesOf(snapshot, bundle, limits) : { bundle, notes: [] });
  }
  return read;
}

async function readFilesOf(
  snapshot: SourceSnapshot,
  bundle: Bundle,
  limits: InstallLimits,
): Promise<OfferedBundle> {
  const { name, root: path } = bundle;
  const inside = path === '' ? '' : `${path}/`;
  const entries = snapshot.entries.filter((entry) => entry.path.startsWith(inside));
  const { problems, notes } = inspectFiles({ entries }, limits);
  const named = plainName.test(name) ? [] : ['its name has more than letters, digits, dots, hyphens and _'];
  const [problem] = [...named, ...problems];
  if (problem !== undefined)
    return { bundle, notes: [`its files are not kept, so its servers can't run: ${problem}`] };
  const plain = entries.filter(({ kind }) => kind === 'file');
  const bytes = await snapshot.read(plain);
  const files = plain.map((entry, index) => {
    const content = bytes[index] ?? Buffer.alloc(0);
    const { executable } = entry;
    return { path: entry.path.slice(inside.length), bytes: content, sha256: sha256Of(content), executable };
  });
  return { bundle, offer: { name, path, files }, notes: notes.map(({ message }) => message) };
}

/** The lines about kept files: how many, and each one that a server starts, with its hash. */
export function keptFileLines({ bundle, offer }: OfferedBundle): readonly (readonly [string, string])[] {
  if (offer === undefined) return [];
  const bytes = offer.files.reduce((sum, file) => sum + file.bytes.length, 0);
  const started = [...new Set(bundle.servers.flatMap(startedFiles))];
  return [
    ['files', `${offer.files.length}, ${sizeText(bytes)}, kept for its servers`],
    ...started.map((path) => {
      const file = offer.files.find((one) => one.path === path);
      const what = file === undefined ? 'is not among its files' : `sha256 ${file.sha256}`;
      return ['program', `${path} ${what}`] as const;
    }),
  ];
}

/** Files of the bundle that the command line of a server names. */
function startedFiles({ settings }: BundleServer): readonly string[] {
  const { command = '', args = [] } = settings;
  return [command, ...args].flatMap((text) => /^\$\{PLUGIN_ROOT\}\/(.+)$/.exec(text)?.[1] ?? []);
}

/** Names of variables of the bot's environment that a server asks for, wherever it does. */
export function variablesOf({ settings }: BundleServer): readonly string[] {
  const { command = '', args = [], url = '', env = {}, headers = {} } = settings;
  const values = [command, ...args, url, ...Object.values(env), ...Object.values(headers)];
  return [...new Set(values.flatMap((value) => variableIn(value) ?? []))];
}

/** The name of the variable that takes the place of this value in the config. Undefined if the value stays. */
function variableIn(value: string): string | undefined {
  return /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
}

/** The section of config.toml for a server, without lists and tables that are empty, and without these variables. */
export function sectionOf({ name, settings }: BundleServer, without: ReadonlySet<string>): string {
  const isKept = (value: string): boolean => !without.has(variableIn(value) ?? '');
  const kept = (table: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(table).filter(([, value]) => isKept(value)));
  // With a second dollar it is the text, not the variable.
  const plain = (value = ''): string => (isKept(value) ? value : `$${value}`);
  const { command, url, args = [] } = settings;
  const all = {
    ...{ bundle: settings.bundle ?? '', command: plain(command), url: plain(url), args: args.map(plain) },
    ...{ env: kept(settings.env), headers: kept(settings.headers) },
  };
  const filled = Object.entries(all).filter(([, value]) => Object.keys(value).length > 0);
  const key = name.replace(/[^a-zA-Z0-9-]+/g, '-');
  return stringify({ mcp: { [key]: Object.fromEntries(filled) } }).trim();
}
