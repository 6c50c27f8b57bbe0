import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..');
const floors: Readonly<Record<string, number>> = {
  core: 0,
  texts: 0,
  config: 1,
  stores: 1,
  net: 1,
  skills: 2,
  files: 2,
  sandbox: 2,
  capabilities: 3,
  tools: 3,
  agent: 4,
  channels: 5,
  app: 6,
  cli: 7,
};
/** Package → the files that may import it at run time. Types may be imported anywhere. */
const owners: readonly (readonly [RegExp, RegExp])[] = [
  [/^grammy$|^@grammyjs\//, /^src\/channels\/telegram\//],
  [/^@slack\//, /^src\/channels\/slack\//],
  [/^keyv$|^@keyv\//, /^src\/stores\//],
  [/^pg$|^pg-boss$/, /^src\/stores\/postgres\//],
  [/^gray-matter$|^yaml$/, /^src\/skills\/(parse|validate)-[a-z-]+\.ts$/],
  [/^smol-toml$/, /^src\/config\/|^src\/skills\/lock-file\.ts$/],
  [/^@anthropic-ai\//, /^src\/agent\/anthropic-[a-z-]+\.ts$/],
  [/^just-bash$/, /^src\/sandbox\//],
  [/^mdast-util-|^micromark/, /^src\/channels\//],
  [/^turndown$/, /^src\/tools\/page\//],
  [/^@modelcontextprotocol\//, /^src\/tools\/mcp\//],
  [/^@cfworker\/json-schema$/, /^src\/core\/json-schema-check\.ts$/],
  [/^jose$/, /^src\/capabilities\//],
  [/^commander$/, /^src\/cli\//],
  [/^pino$|^prom-client$/, /^src\/app\//],
  [/^zod$/, /^src\//],
  [/^node:/, /^src\//],
];

type Import = Readonly<{ specifier: string; typeOnly: boolean }>;
const files = readdirSync(path.join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
  .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
  .sort();
const imports = new Map(files.map((file) => [file, importsOf(readFileSync(path.join(root, file), 'utf8'))]));

test('every source file lives on a floor and imports its own floor or lower ones', () => {
  for (const [file, list] of imports) {
    const own = floorOf(file);
    assert.ok(own !== undefined, `${file} is on no floor`);
    for (const { specifier } of list.filter(({ specifier }) => specifier.startsWith('.'))) {
      const target = resolve(file, specifier);
      const other = floorOf(target);
      assert.ok(other !== undefined && other <= own, `${file} imports ${target}, which is above it`);
      if (own === floors['channels'] && other !== 0) {
        const [, , channel] = file.split(path.sep);
        const allowed =
          /^src\/channels\/(markdown\/|[a-z-]+\.ts$)/.test(target) ||
          target.startsWith(`src/channels/${channel}/`);
        assert.ok(allowed, `${file} imports ${target}: a channel knows core and what channels share`);
      }
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

test('the map has a line for each room, and for no other', () => {
  const map = readFileSync(path.join(root, 'src', 'README.md'), 'utf8');
  const named = [...map.matchAll(/^\| \d \| `([^`]+?)\/?` \|/gm)].map((match) => match[1]);
  const rooms = new Set(files.map((file) => file.split(path.sep)[1]));
  assert.deepEqual(new Set(named), rooms);
});

function floorOf(file: string): number | undefined {
  return file === 'src/plugin.ts' ? 4 : floors[file.split(path.sep)[1] ?? ''];
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
