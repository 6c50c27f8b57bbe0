import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pictures, scenes } from '../../examples/pictures/scenes.ts';

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'pictures');

/** Codes differ from run to run. */
function withoutChance(svg: string): string {
  return svg.replace(/\b(?=\w*\d)[A-Z2-9]{8}\b|\b[A-Z]{8}\b/g, 'CODE');
}

for (const scene of Object.keys(scenes)) {
  test(`H9 the pictures of ${scene} show what a run gives (else: npm run pictures)`, async (t) => {
    const drawn = await pictures(t, scene);
    assert.ok(drawn.size > 0);
    for (const [file, svg] of drawn)
      assert.equal(withoutChance(svg), withoutChance(readFileSync(path.join(folder, file), 'utf8')));
  });
}
