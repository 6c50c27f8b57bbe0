import { existsSync, readFileSync } from 'node:fs';
import { print, progressLine, untilInterrupted } from './console.ts';
import type { Config } from '../config/complete-config.ts';
import type { SourceAddress } from '../config/source-address.ts';
import { keyVariables } from '../config/model-aliases.ts';
import { OperatorError } from '../core/errors.ts';
import { origins, type Skill } from '../core/skill.ts';
import { printable, oneLine } from '../lib/text/text.ts';
import {
  compareFiles,
  isChanged,
  requestedPermissions,
  type FileChange,
  type SkillChange,
} from '../skills/install/install-compare.ts';
import { sizeText, installLimits, type SourceSnapshot } from '../skills/install/install-source.ts';
import type { Bundle, BundleServer } from '../skills/install/read-bundles.ts';
import {
  keptFileLines,
  sectionOf,
  variablesOf,
  type OfferedBundle,
} from '../skills/install/bundle-offers.ts';
import { bundleFolder, type LockedBundle } from '../skills/install/lock-file.ts';
import type { BundleOffer, SkillOffer, Refused } from '../skills/install/install-offers.ts';
import { openSource } from '../skills/install/git-source.ts';
import { quarantineFolder } from '../skills/install/install-skills.ts';

/**
 * The lines about an offered skill that the operator agrees to (D6). Text of strangers is escaped, so that it can't
 * steer the terminal. `now` is the current skill of that name.
 */
export function offerLines(offer: SkillOffer, config: Config, now: Skill | undefined): readonly string[] {
  const { name, path, definition, files, diagnostics } = offer;
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const row = (what: string, text: string): string => `  ${what.padEnd(12)} ${printable(text)}`;
  const given = Object.keys(config.skills.byName[name]?.env ?? {});
  return [
    `${printable(name)}: ${printable(oneLine(definition.description, 400))}`,
    row('from', path === '' ? 'the top of the source' : path),
    row('files', `${files.length}, ${sizeText(bytes)}`),
    ...Object.entries(requestedPermissions(offer)).flatMap(([kind, items]) =>
      kind === 'scripts' ? items.map((item) => row('script', item)) : [row(kind, items.join(', '))],
    ),
    ...(given.length === 0
      ? []
      : [row('is given', `${given.join(', ')}, which [skills.${name}] sets in config`)]),
    ...replaces(now).map((text) => row('note', text)),
    ...diagnostics.map(({ code, message }) => row('note', `${code}: ${message}`)),
  ];
}

/**
 * The lines about a bundle: the servers that it brings, which stay off, with what they run, and the files that are kept
 * for them. `used` are variables that the config uses itself (F12).
 */
function bundleLines(offered: OfferedBundle, used: ReadonlySet<string>): readonly string[] {
  const { kind, name, root, servers, notes, refused } = offered.bundle;
  const row = (what: string, text: string): string => `  ${what.padEnd(12)} ${printable(text)}`;
  return [
    `bundle ${printable(name)} (${kind})${root === '' ? '' : ` in ${printable(root)}`}`,
    ...(refused === undefined ? [] : [row('not offered', refused)]),
    ...servers.flatMap((server) => [
      row('server', `${server.name}, ${placeOf(server)}, off: ${server.runs}`),
      ...Object.entries(server.settings.env ?? {}).map(([key, value]) => row('', `  with ${key}=${value}`)),
      ...variablesOf(server).map((name) =>
        row('', `  asks for $${name}${used.has(name) ? ', which your bot uses: it is left out' : ''}`),
      ),
    ]),
    ...keptFileLines(offered).map(([what, text]) => row(what, text)),
    ...[...notes, ...offered.notes].map((note) => row('note', note)),
  ];
}

/** Programs that fetch what they run from a registry. */
const fetching: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx', 'docker', 'podman']);

/** Where a server runs: at a host, as a program of its bundle, or as one of this machine. */
function placeOf({ host, settings: { command = '' }, needsFiles }: BundleServer): string {
  if (host !== undefined) return `at ${host}`;
  if (command.startsWith('${PLUGIN_ROOT}/')) return 'a program of the bundle';
  const how = fetching.has(command.split(/[/\\]/).at(-1) ?? '') ? ', which fetches what it runs' : '';
  return `the program ${command} of this machine${how}${needsFiles ? ', with files of the bundle' : ''}`;
}

/**
 * Names of variables that the bot uses, by its config file or by itself, so that no server is given them by a section of a
 * stranger. What sections of these bundles use already is none of them.
 */
export function variablesIn({ path, mcp }: Config, bundles: readonly Bundle[]): ReadonlySet<string> {
  const text = path === undefined || !existsSync(path) ? '' : readFileSync(path, 'utf8');
  let isTheirs = false;
  const lines = text.split('\n').filter((line) => {
    const [isHeader, server] = /^\s*\[+\s*(?:mcp\.([\w-]+))?/.exec(line) ?? [];
    const bundle = server === undefined ? undefined : mcp[server]?.bundle;
    if (isHeader !== undefined) isTheirs = bundles.some(({ name }) => name === bundle);
    return !isTheirs;
  });
  const written = lines.flatMap((line) =>
    [...line.matchAll(/\$([A-Z_][A-Z0-9_]*)/g)].map(([, name = '']) => name),
  );
  return new Set([...written, ...Object.values(keyVariables)]);
}

/** What an operator writes to connect the servers of bundles. Empty if there are none. */
export function serverSections(read: readonly OfferedBundle[], used: ReadonlySet<string>): readonly string[] {
  // Without its files a server can't run.
  const servers = read.flatMap(({ bundle, offer }) =>
    bundle.servers.filter(({ needsFiles }) => offer !== undefined || !needsFiles),
  );
  if (servers.length === 0) return [];
  return [
    'Servers of bundles stay off. To connect one, read what it does and copy its section into config.toml:',
    ...servers.flatMap((server) => [
      '',
      ...variablesOf(server)
        .filter((name) => used.has(name))
        .map((name) => `# It asks for $${name}, which your bot uses. That is left out.`),
      ...sectionOf(server, used).split('\n').map(printable),
    ]),
  ];
}

export function refusedLines(refused: readonly Refused[]): readonly string[] {
  return refused.flatMap(({ path, name, problems }) => [
    `not offered: ${printable(path === '' ? name : path)}`,
    ...problems.map((problem) => `  ${printable(problem)}`),
  ]);
}

/** The changes of a skill: each file line by line, then what it asks for beyond the agreed version. */
export function changeLines(name: string, { files, asksMore }: SkillChange): readonly string[] {
  return [
    ...files.flatMap((file) => fileLines(name, file)),
    '',
    `${name}: ${files.map(({ path, kind }) => `${kind} ${printable(path)}`).join(', ')}`,
    ...(asksMore.length === 0
      ? [`${name}: it asks for nothing more than before`]
      : asksMore.map((more) => `${name}: MORE THAN BEFORE: ${printable(more)}`)),
  ];
}

function fileLines(name: string, { path, kind, shown }: FileChange): readonly string[] {
  const mark = { added: '+', changed: '~', removed: '-' }[kind];
  return [
    '',
    `${mark} ${name}/${printable(path)} (${kind})`,
    ...(typeof shown === 'string'
      ? [`  ${shown}`]
      : shown.map((line) => `  ${line.mark} ${printable(line.text)}`.trimEnd())),
  ];
}

/** The changes of a bundle's files, and what its servers run now. */
function bundleChangeLines(
  dataDir: string,
  locked: LockedBundle,
  offered: OfferedBundle & Readonly<{ offer: BundleOffer }>,
  used: ReadonlySet<string>,
): readonly string[] {
  const { name } = locked;
  const files = compareFiles(bundleFolder(dataDir, locked), locked, offered.offer);
  return [
    ...files.flatMap((file) => fileLines(name, file)),
    ...['', `${name}: ${files.map(({ path, kind }) => `${kind} ${printable(path)}`).join(', ')}`],
    ...['', ...bundleLines(offered, used)],
  ];
}

/** Prints what bundles bring, and for those that changed since a yes each changed line. */
export function showBundles(
  read: readonly OfferedBundle[],
  {
    dataDir,
    agreed,
    used,
  }: Readonly<{ dataDir: string; agreed: readonly LockedBundle[]; used: ReadonlySet<string> }>,
): void {
  for (const { offer, ...of } of read) {
    const locked = agreed.find(({ name }) => name === offer?.name);
    const lines =
      offer === undefined || locked === undefined || !isChanged(locked, offer)
        ? bundleLines({ ...of, offer }, used)
        : bundleChangeLines(dataDir, locked, { ...of, offer }, used);
    for (const line of lines) print(line);
  }
}

function replaces(now: Skill | undefined): readonly string[] {
  if (now === undefined || now.origin === 'installed') return [];
  if (origins.indexOf(now.origin) > origins.indexOf('installed'))
    return [
      `the ${now.origin} skill of this name at ${now.path} stays in use; this one makes its access stricter at most`,
    ];
  return [
    `it replaces the ${now.origin} skill of this name, and its access can only be as strict or stricter`,
  ];
}

/**
 * Fetches a source with progress (L9), and closes it after `use`. Ctrl-C ends git and clears the quarantine. Throws
 * OperatorError.
 */
export async function withSource<T>(
  options: Readonly<{ dataDir: string; address: SourceAddress; ref?: string }>,
  use: (snapshot: SourceSnapshot) => Promise<T>,
): Promise<T> {
  const { dataDir, address, ref } = options;
  using interrupted = untilInterrupted(new OperatorError('Stopped.'));
  const line = progressLine();
  let snapshot: SourceSnapshot | undefined;
  try {
    snapshot = await openSource({
      address,
      ref,
      quarantine: quarantineFolder(dataDir),
      limits: installLimits,
      signal: interrupted.signal,
      progress: line.show,
      env: process.env,
    });
    line.end();
    return await use(snapshot);
  } finally {
    line.end();
    snapshot?.close();
  }
}
