import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { allCommands } from '../../src/features/list.ts';

const source = path.join(import.meta.dirname, '../../src');
/** Where commands are written in the form of a platform, or of a terminal, and where pages have paths. */
const others = /^(?:channels|cli|core\/texts|dashboard|lib|sandbox|store)\//;

test('H12 no text names a command in the form of one platform: each channel writes its own', async () => {
  // The command of Slack begins every form there, so it is named with its setting.
  const words = allCommands()
    .names.filter((name) => name !== 'skill')
    .join('|');
  const named = new RegExp(
    String.raw`(?<![\w./*@<-])/(?:${words})(?![\w/.])|(?<=[\s(])/\$\{(?:name|skill)\}`,
  );
  const found: string[] = [];
  const files = await readdir(source, { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts') && !others.test(name))) {
    const text = await readFile(path.join(source, file), 'utf8');
    const code = text.replace(/\/\*\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
    found.push(...code.split('\n').flatMap((line) => (named.test(line) ? [`${file}: ${line.trim()}`] : [])));
  }
  assert.ok(files.length > 400);
  assert.deepEqual(found, []);
});
