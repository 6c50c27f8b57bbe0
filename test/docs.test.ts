import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { referencePages } from '../bin/reference/pages.ts';
import { readAccessTests } from '../src/config/access-tests.ts';
import { formatConfigProblem } from '../src/config/config-problem.ts';
import { everyKey, parseConfig } from '../src/config/parse-config.ts';
import { blocksOf, documents, root, type DocumentFile } from './support/documents.ts';

const all = documents();

test('L17 docs/reference is what `npm run docs:reference` writes', () => {
  const pages = referencePages();
  const folder = path.join(root, 'docs/reference');
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(pages).sort());
  for (const [name, text] of Object.entries(pages))
    assert.equal(readFileSync(path.join(folder, name), 'utf8'), text, `${name}: run npm run docs:reference`);
});

test('L17 every link in the documents leads to a file and a heading that are there', () => {
  const broken = all.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) =>
      /^https?:/.test(link) || isOfRepository(link) || isThere(file, link) ? [] : [`${file}: ${link}`],
    ),
  );
  assert.deepEqual(broken, []);
  assert.ok(!isThere('README.md', 'docs/how-to/access.md#no-such-heading'));
});

test('L17 the index leads to every page', () => {
  const { text = '' } = all.find(({ file }) => file === 'docs/README.md') ?? {};
  const pages = all.flatMap(({ file }) => /^docs\/((?!README|spec|decisions).*)$/.exec(file)?.[1] ?? []);
  assert.ok(pages.length > 30);
  assert.deepEqual(
    pages.filter((page) => !text.includes(`](${page})`)),
    [],
  );
});

test('L17 every block of TOML in the documents passes the parser that it is for', () => {
  const blocks = all.flatMap((one) => tomlOf(one).map((toml) => ({ file: one.file, toml })));
  assert.ok(blocks.length > 20, String(blocks.length));
  for (const { file, toml } of blocks) assert.deepEqual(problemsIn(toml), [], `${file}:\n${toml}`);
  assert.notDeepEqual(problemsIn('[bot]\nnmae = "x"'), []);
});

test('L17 every `[section] key` that the documents name exists', () => {
  const keys = everyKey();
  const named = all.flatMap(({ file, text }) =>
    [...text.matchAll(/`\[+([a-z_]+(?:\.(?:[a-zA-Z_-]+|"[^"]+"))*)\]+ ([a-z_]+)(?: = [^`]*)?`/g)].map(
      ([, section = '', key = '']) => ({ file, section, key }),
    ),
  );
  assert.ok(named.length > 40, String(named.length));
  const unknown = named.filter(({ section, key }) => !keys.some((known) => fits(`${section}.${key}`, known)));
  assert.deepEqual(unknown, []);
  assert.ok(!keys.some((known) => fits('bot.nmae', known)));
});

/** A page that GitHub has beside the files: runs of a workflow that is here. */
function isOfRepository(link: string): boolean {
  const [, workflow] = /^\.\.\/\.\.\/actions\/workflows\/([\w.-]+?)(?:\/badge\.svg)?$/.exec(link) ?? [];
  return workflow !== undefined && existsSync(path.join(root, '.github/workflows', workflow));
}

function isThere(file: string, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const place = target === '' ? path.join(root, file) : path.join(root, path.dirname(file), target);
  if (!existsSync(place)) return false;
  if (anchor === undefined) return true;
  return !statSync(place).isDirectory() && headingsOf(readFileSync(place, 'utf8')).includes(anchor);
}

/** As GitHub makes anchors of them. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Fenced blocks that say so, and indented ones that begin with a table. */
function tomlOf({ text }: DocumentFile): readonly string[] {
  return blocksOf(text)
    .filter(
      ({ language, text: block }) => language === 'toml' || (language === '' && /^\[[a-z[]/.test(block)),
    )
    .map(({ text: block }) => block);
}

function problemsIn(toml: string): readonly string[] {
  const tables = Object.keys(parse(toml));
  if (tables.includes('test')) return problemsOfAccessTests(toml);
  // Cases of a skill: test/cli/test-skill.test.ts carries them out.
  if (tables.includes('case')) return [];
  const names = [...toml.matchAll(/"\$([A-Z_]+)"/g)].map(([, name = '']) => name);
  const env: Record<string, string> = { ANTHROPIC_API_KEY: 'a-value' };
  for (const name of names)
    env[name] = name.endsWith('_URL') ? 'postgres://user@host/name' : 'a-value-0123456789';
  const parsed = parseConfig(toml, { file: '/srv/bot/config.toml', env });
  return parsed.ok ? [] : parsed.problems.map(formatConfigProblem);
}

function problemsOfAccessTests(toml: string): readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-docs-'));
  try {
    const file = path.join(folder, 'access.tests.toml');
    writeFileSync(file, toml);
    return readAccessTests(file).length > 0 ? [] : ['no tests'];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `*` is any name, `[]` an item of a list. */
function fits(key: string, known: string): boolean {
  const pattern = known
    .replaceAll('[]', '')
    .split('.')
    .map((part) => (part === '*' ? '(?:[\\w-]+|"[^"]+")' : part))
    .join('\\.');
  return new RegExp(`^${pattern}(?:\\..+)?$`).test(key);
}
