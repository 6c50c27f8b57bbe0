import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sandboxHere } from '../support/bubblewrap-here.ts';
import { blocksOf, documents, root, words } from '../support/documents.ts';
import { openCliHome } from '../support/run-cli.ts';

/** Commands of the page in their order, with what it says that they print. */
const page = documents().find(({ file }) => file === 'docs/how-to/prove.md')?.text ?? '';
const steps = blocksOf(page).flatMap(({ text }) =>
  text
    .split(/^\$ /m)
    .filter((one) => one.trim() !== '')
    .map((one) => {
      const [command = '', ...printed] = one.split('\n');
      return { command, printed: printed.join('\n').trim() };
    }),
);

test('L18 the commands of an auditor do what their page says, from an empty folder', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', `[bot]\nname = "Skillet"\n${sandboxHere}`);
  await copyFile(
    path.join(root, 'examples/verify-audit/verify-audit.mjs'),
    path.join(home.folder, 'verify-audit.mjs'),
  );
  for (const text of ['/dice 2d6', '/status', '/dice 3d8']) await home.run(['chat', '--once', text]);
  assert.ok(steps.length >= 8, String(steps.length));
  for (const { command, printed } of steps) {
    const [program = '', ...args] = words(command.replace(/ > \S+$/, '').replace('2026-11-01', '2020-01-01'));
    if (command.includes('december')) await home.run(['audit', 'export', 'december.csv', '--format', 'csv']);
    const { stdout, stderr = '' } =
      program === 'node'
        ? spawnSync(process.execPath, args, { cwd: home.folder, encoding: 'utf8' })
        : await home.run(args);
    const target = / > (\S+)$/.exec(command)?.[1];
    if (target !== undefined) await writeFile(path.join(home.folder, target), stdout);
    const said = target === undefined ? `${stdout}${stderr}` : '';
    assert.equal(plain(said.replaceAll(`${home.folder}/`, '')), plain(printed), command);
  }
});

/** Counts of lines differ with the machine, and so does how a command is called. */
function plain(text: string): string {
  return text
    .trim()
    .replace(/\b\d+\b/g, 'N')
    .replace(/ +/g, ' ');
}
