import { progressLine, untilInterrupted } from './console.ts';
import type { Config } from '../config/complete-config.ts';
import type { SourceAddress } from '../config/source-address.ts';
import { OperatorError } from '../core/errors.ts';
import { origins, type Skill } from '../core/skill.ts';
import { printable, oneLine } from '../lib/text/text.ts';
import { requestedPermissions, type SkillChange } from '../skills/install/install-compare.ts';
import { sizeText, installLimits, type SourceSnapshot } from '../skills/install/install-source.ts';
import type { Bundle } from '../skills/install/read-bundles.ts';
import type { SkillOffer, Refused } from '../skills/install/install-offers.ts';
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

/** The lines about a bundle: the servers that it brings, which stay off, and what of it is not read (F12). */
export function bundleLines({ kind, name, root, servers, notes, refused }: Bundle): readonly string[] {
  const row = (what: string, text: string): string => `  ${what.padEnd(12)} ${printable(text)}`;
  return [
    `bundle ${printable(name)} (${kind})${root === '' ? '' : ` in ${printable(root)}`}`,
    ...(refused === undefined ? [] : [row('not offered', refused)]),
    ...servers.map(({ name: server, runs, host, needsFiles }) => {
      const where = host === undefined ? 'a program' : `at ${host}`;
      return row(
        'server',
        `${server}, ${where}, off: ${runs}${needsFiles ? ' (with files of the bundle)' : ''}`,
      );
    }),
    ...notes.map((note) => row('note', note)),
  ];
}

/** What an operator writes to connect the servers of bundles. Empty if there are none. */
export function serverSections(bundles: readonly Bundle[]): readonly string[] {
  const servers = bundles.flatMap((bundle) => bundle.servers);
  if (servers.length === 0) return [];
  const files = servers.some(({ needsFiles }) => needsFiles)
    ? [
        'Programs and files of a bundle are not installed: clone it and write its folder as /path/to/the/bundle.',
      ]
    : [];
  return [
    'Servers of bundles stay off. To connect one, read what it does and copy its section into config.toml:',
    ...files,
    ...servers.flatMap(({ config }) => ['', ...config.split('\n').map(printable)]),
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
  const marks = { added: '+', changed: '~', removed: '-' } as const;
  return [
    ...files.flatMap(({ path, kind, shown }) => [
      '',
      `${marks[kind]} ${name}/${printable(path)} (${kind})`,
      ...(typeof shown === 'string'
        ? [`  ${shown}`]
        : shown.map(({ mark, text }) => `  ${mark} ${printable(text)}`.trimEnd())),
    ]),
    '',
    `${name}: ${files.map(({ path, kind }) => `${kind} ${printable(path)}`).join(', ')}`,
    ...(asksMore.length === 0
      ? [`${name}: it asks for nothing more than before`]
      : asksMore.map((more) => `${name}: MORE THAN BEFORE: ${printable(more)}`)),
  ];
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
