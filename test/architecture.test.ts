import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { doubleExports } from '../bench/house/double-exports.ts';
import { readSources } from '../bench/house/source.ts';
import { personPlaces } from '../src/operator/person-places.ts';

const root = path.join(import.meta.dirname, '..');
/** Rooms that most others may import. */
const low = ['store', 'config', 'folders', 'audit', 'replies', 'access', 'limits', 'accounts'];
/** Room → the rooms that it may import, besides itself, `core` and `lib`. `bot` and `cli` put everything together. */
const edges: Readonly<Record<string, readonly string[] | 'all'>> = {
  lib: [],
  core: [],
  config: [],
  store: ['config'],
  folders: ['store', 'config'],
  audit: ['store', 'config'],
  replies: ['store', 'config', 'folders'],
  limits: ['store', 'config'],
  access: ['store', 'config', 'audit', 'replies', 'limits'],
  accounts: ['store', 'config', 'audit', 'replies'],
  agent: [],
  channels: [],
  sandbox: [],
  skills: ['sandbox', ...low],
  tools: ['skills', 'sandbox', ...low],
  // What the bot shares. It names types only.
  'app.ts': ['tools', 'skills', ...low],
  runs: ['app.ts', 'agent', 'tools', 'skills', 'sandbox', ...low],
  conversations: ['app.ts', 'runs', 'agent', 'tools', 'skills', 'sandbox', ...low],
  // What can be taken away. No feature may import another.
  features: ['app.ts', 'conversations', 'runs', 'agent', 'tools', 'skills', 'sandbox', ...low],
  providers: ['features'],
  operator: 'all',
  dashboard: ['operator', ...low],
  bot: 'all',
  cli: 'all',
};
/** Rooms that no other but these may import. */
const above: Readonly<Record<string, readonly string[]>> = {
  features: ['operator', 'bot', 'cli', 'providers'],
  providers: ['cli'],
  operator: ['bot', 'dashboard', 'cli'],
  dashboard: ['cli'],
  bot: ['cli'],
  cli: [],
};
/** Package → the files that may import it at run time. Types may be imported anywhere. */
const owners: readonly (readonly [RegExp, RegExp])[] = [
  [/^grammy$|^@grammyjs\//, /^src\/channels\/telegram\//],
  [/^@slack\/|^undici$/, /^src\/channels\/slack\//],
  [/^keyv$|^@keyv\//, /^src\/store\//],
  [/^pg$|^pg-boss$/, /^src\/store\/postgres\//],
  [/^gray-matter$|^yaml$/, /^src\/skills\/parse\//],
  [
    /^smol-toml$/,
    /^src\/config\/|^src\/skills\/install\/(?:lock-file|bundle-offers)\.ts$|^src\/skills\/skill-cases\.ts$/,
  ],
  [/^@anthropic-ai\//, /^src\/agent\/models\/(?:anthropic-api|cloud-apis)\.ts$/],
  [/^just-bash$/, /^src\/sandbox\/virtual\//],
  [/^mdast-util-|^micromark/, /^src\/lib\/markdown\//],
  [/^turndown$/, /^src\/tools\/web\//],
  [/^@modelcontextprotocol\//, /^src\/features\/mcp\//],
  [/^@cfworker\/json-schema$/, /^src\/lib\/json\/json-schema-check\.ts$/],
  [/^jose$/, /^src\/features\/capabilities\//],
  [/^croner$/, /^src\/features\/routines\//],
  [/^commander$/, /^src\/cli\//],
  [/^@clack\/prompts$/, /^src\/cli\/init\//],
  [/^pino$|^prom-client$/, /^src\/operator\//],
  [/^zod$/, /^src\//],
  [/^node:/, /^(src|providers\/check)\//],
];

type Import = Readonly<{ specifier: string; typeOnly: boolean }>;
/** What the bot loads: `src`, and the kit beside the providers that the CLI checks them with. */
const files = ['src', 'providers/check']
  .flatMap((folder) => readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
  .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
  .sort();
const imports = new Map(files.map((file) => [file, importsOf(readFileSync(path.join(root, file), 'utf8'))]));

test('every source file imports only rooms that the table of edges allows', () => {
  for (const [file, list] of imports) {
    const own = roomOf(file);
    const allowed = edges[own];
    assert.ok(allowed !== undefined, `${file} is in no room`);
    for (const { specifier } of list.filter(({ specifier }) => specifier.startsWith('.'))) {
      const target = resolve(file, specifier);
      const other = roomOf(target);
      if (other === own || other === 'lib' || (other === 'core' && own !== 'lib')) continue;
      const isAllowed = above[other]?.includes(own) ?? (allowed === 'all' || allowed.includes(other));
      assert.ok(isAllowed, `${file} imports ${target}: ${own} may not import ${other}`);
      assert.ok(own !== 'channels', file);
    }
    if (own !== 'channels') continue;
    const [, , channel = ''] = file.split(path.sep);
    for (const { specifier } of list.filter(({ specifier }) => specifier.startsWith('.'))) {
      const target = resolve(file, specifier);
      const [, room, folder = ''] = target.split(path.sep);
      if (room !== 'channels' || folder.endsWith('.ts')) continue;
      assert.equal(folder, channel, `${file} imports ${target}: channels know nothing of each other`);
    }
  }
});

test('no feature imports another one', () => {
  const featureOf = (file: string): string | undefined =>
    /^src\/features\/([^/]+)\//.exec(file.replaceAll(path.sep, '/'))?.[1];
  for (const [file, list] of imports) {
    const own = featureOf(file);
    if (own === undefined) continue;
    for (const { specifier } of list.filter(({ specifier }) => specifier.startsWith('.'))) {
      const other = featureOf(resolve(file, specifier));
      assert.ok(
        other === undefined || other === own,
        `${file} imports ${specifier}: the feature ${own} must work without ${other}`,
      );
    }
  }
});

test('every package has one owner', () => {
  for (const [file, list] of imports) {
    for (const { specifier } of list.filter(
      ({ specifier, typeOnly }) => !specifier.startsWith('.') && !typeOnly,
    )) {
      const owner = owners.find(([name]) => name.test(specifier));
      assert.ok(owner !== undefined, `${file} imports ${specifier}, which nobody owns`);
      assert.match(file, owner[1], `${file} imports ${specifier}, which it does not own`);
    }
  }
});

test('no file is over 300 lines, no import goes in a circle', () => {
  for (const file of files) {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n').length - 1;
    assert.ok(lines <= 300, `${file} has ${lines} lines`);
  }
  const seen = new Map<string, 'open' | 'done'>();
  const visit = (file: string, trail: readonly string[]): void => {
    if (seen.get(file) === 'done') return;
    assert.notEqual(seen.get(file), 'open', `imports go in a circle: ${[...trail, file].join(' → ')}`);
    seen.set(file, 'open');
    for (const { specifier, typeOnly } of imports.get(file) ?? []) {
      if (specifier.startsWith('.') && !typeOnly) visit(resolve(file, specifier), [...trail, file]);
    }
    seen.set(file, 'done');
  };
  for (const file of files) visit(file, []);
});

test('no heap of odds and ends, no default export, no state at module level', () => {
  for (const file of files) {
    assert.doesNotMatch(path.basename(file), /util|helper|manager|common|^types\.|^index\./, file);
    const text = readFileSync(path.join(root, file), 'utf8');
    assert.doesNotMatch(text, /^export default/m, `${file} has a default export`);
    assert.doesNotMatch(text, /^(export )?(let|var) /m, `${file} keeps state at module level`);
    assert.doesNotMatch(
      text,
      /^(export )?class (?!\w+ extends \w*Error\b)/m,
      `${file} has a class that is no error`,
    );
  }
});

test('B3 B4 what runs before the compile cache is open is plain JavaScript', () => {
  const starter = readFileSync(path.join(root, 'bin', 'skillet.js'), 'utf8');
  const early = importsOf(starter.slice(0, starter.indexOf('enableCompileCache(')))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => resolve('bin/skillet.js', specifier));
  assert.ok(early.length > 0);
  for (const file of early) {
    assert.match(file, /\.js$/);
    for (const { specifier } of imports.get(file) ?? []) {
      if (specifier.startsWith('.')) early.push(resolve(file, specifier));
    }
  }
});

test('no name is exported by two files', () => {
  assert.deepEqual(doubleExports(readSources(root, ['src'], /\.ts$/)), []);
});

test('the map has a line for each room, and for no other', () => {
  const map = readFileSync(path.join(root, 'src', 'README.md'), 'utf8');
  const named = [...map.matchAll(/^\| `([^`]+?)\/?` \|/gm)].map((match) => match[1]);
  const rooms = new Set(
    files.filter((file) => file.startsWith('src')).map((file) => file.split(path.sep)[1]),
  );
  assert.deepEqual(new Set(named), rooms);
});

function roomOf(file: string): string {
  if (file.startsWith('providers')) return 'providers';
  return file === 'src/plugin.ts' ? 'features' : (file.split(path.sep)[1] ?? '');
}

function resolve(from: string, specifier: string): string {
  return path.normalize(path.join(path.dirname(from), specifier));
}

function importsOf(text: string): readonly Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s)?'([^']+)'/gms);
  const dynamic = text.matchAll(/\bimport\('([^']+)'\)/g);
  const workers = text.matchAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g);
  return [
    ...[...statements].map((match) => ({ specifier: match[2] ?? '', typeOnly: match[1] !== undefined })),
    ...[...dynamic, ...workers].map((match) => ({ specifier: match[1] ?? '', typeOnly: false })),
  ];
}

test('L18 every namespace of values and every group of folders has a row in the table of what is held of a person', () => {
  const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(path.join(root, 'src', name), 'utf8'));
  const constants = new Map(
    sources.flatMap((text) =>
      [...text.matchAll(/export const (\w+) = '([\w.-]+)';/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    ),
  );
  const namespaces = sources.flatMap((text) =>
    [...text.matchAll(/\bkeyed\((?:'([\w-]+)'|(\w+))\)/g)].flatMap(([, written, constant = '']) => {
      if (constant === 'namespace' || constant === 'sql') return [];
      const value = written ?? constants.get(constant);
      assert.ok(value !== undefined, `what is the namespace ${constant}?`);
      return [`keyed ${value}`];
    }),
  );
  const groups = [...constants].flatMap(([name, value]) =>
    /^\w+Group$/.test(name) ? [`folder ${value}`] : [],
  );
  assert.ok(namespaces.length > 20 && groups.length > 3);
  const places = new Set([...namespaces, ...groups]);
  assert.deepEqual([...places.difference(new Set(Object.keys(personPlaces)))], []);
});
