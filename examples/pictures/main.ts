/**
 * Draws the pictures of docs/pictures: real runs of the whole bot against the strict test servers, drawn from what those
 * received. Only the model's words are scripted. Usage: npm run pictures
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pictures, scenes } from './scenes.ts';

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'pictures');

for (const scene of Object.keys(scenes)) {
  test(`the pictures of ${scene}`, async (t) => {
    await mkdir(folder, { recursive: true });
    for (const [file, svg] of await pictures(t, scene)) await writeFile(path.join(folder, file), svg);
  });
}
