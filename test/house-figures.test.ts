import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { executedFiles } from '../bench/house/executed-files.ts';
import { measureHouse } from '../bench/house/measure-house.ts';
import { readSources } from '../bench/house/source.ts';

const root = path.join(import.meta.dirname, '..');
const repair = 'Write them again: npm run house -- --write';

/** The most that a row may measure, where one is set. */
const limits: Readonly<Record<string, number>> = {
  'functions of more than 60 lines': 60,
  '`Pick<` in src': 146,
  'export names in two or more files': 0,
  'exported docs of five words or fewer': 0,
  'conditional spreads in src': 4,
};

test("house: the figures in docs/architecture.md are the code's within 3 %, and limits hold", async () => {
  const source = readSources(root, ['src'], /\.(?:ts|js)$/);
  const measured = measureHouse(root, source, await executedFiles(root));
  const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
  for (const [what, figure] of measured) {
    const written = page.split('\n').find((line) => line.startsWith(`| ${what} | `));
    assert.ok(written !== undefined, `docs/architecture.md has no row "${what}". ${repair}`);
    const [is, was] = [numbersIn(figure), numbersIn(written.slice(what.length + 4))];
    // Rooms change their order and number too often to be compared one by one.
    if (what.startsWith('rooms:')) continue;
    assert.equal(is.length, was.length, `${what}: ${figure}, but the page says ${written}. ${repair}`);
    is.forEach((value, at) => {
      const far = Math.abs(value - (was[at] ?? 0));
      assert.ok(
        far <= Math.max(2, value * 0.03),
        `${what}: ${figure}, but the page says ${written}. ${repair}`,
      );
    });
    const most = limits[what];
    if (most !== undefined) assert.ok((is[0] ?? 0) <= most, `${what}: ${figure}, at most ${most} are wanted`);
  }
});

function numbersIn(text: string): readonly number[] {
  return (text.match(/\d[\d,]*/g) ?? []).map((number) => Number(number.replaceAll(',', '')));
}
