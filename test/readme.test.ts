import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { documents, root } from './support/documents.ts';

const textOf = (name: string): string => documents().find(({ file }) => file === name)?.text ?? '';
const readme = textOf('README.md');

test('L17 the README is read in ninety seconds, and its picture is one that a test draws', () => {
  const words = readme.split(/\s+/).length;
  assert.ok(words >= 500 && words <= 800, `${words} words`);
  const [, picture = ''] = /!\[[^\]]{40,}\]\(docs\/pictures\/([\w-]+)-slack\.svg\)/.exec(readme) ?? [];
  assert.ok(readFileSync(path.join(root, 'examples/pictures/scenes.ts'), 'utf8').includes(` ${picture}`));
});

test('L17 each reason in the README has a figure that the page of figures says how to see', () => {
  const reasons = [...readme.matchAll(/^- \*\*[^]*?(?=\n(?:-|\n))/gm)].map(([text]) => text);
  assert.equal(reasons.length, 5);
  const figures = textOf('docs/bench/README.md').replaceAll(/\s+/g, ' ');
  for (const reason of reasons) {
    const named = reason.match(/\d[\d,.]*(?: (?:attacks|%|ms|MB|messages|kills))/g) ?? [];
    assert.ok(named.length > 0, reason);
    for (const figure of named) assert.ok(figures.includes(figure), figure);
  }
  const attacks = textOf('docs/security.md')
    .split('| attack |')
    .slice(1)
    .flatMap((part) => {
      const [table = ''] = part.split('\n\n');
      return table.split('\n').slice(2);
    });
  assert.ok(readme.includes(`${attacks.length} attacks`), `${attacks.length} attacks`);
});

test('L17 the second command of the README is what CI runs first, after a clean installation', () => {
  const ci = readFileSync(path.join(root, '.ci/run'), 'utf8').split('\n');
  const at = (command: RegExp): number => ci.findIndex((line) => command.test(line));
  assert.match(readme, /^ {4}npm install && npm start .*\n {4}npm test /m);
  const order = [
    /^npm ci$/,
    /^npm run check &$/,
    /^npm run lint$/,
    /^timeout .* npm test$/,
    /npm run test:slow$/,
  ].map(at);
  assert.ok(!order.includes(-1));
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    order,
  );
});
