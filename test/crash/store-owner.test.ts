import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';

function folder(context: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-owner-'));
  context.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** Another process that opens the store; its first line says what became of that. */
async function startHolder(context: TestContext, url: string): Promise<[ChildProcess, string]> {
  const script = path.join(import.meta.dirname, 'store-holder.ts');
  const child = spawn(process.execPath, [script, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  context.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return [child, line];
}

test('Q9 a second process is refused and told the process id of the first, until that one ends', async (context) => {
  const file = path.join(folder(context), 's.db');
  const [holder, line] = await startHolder(context, `sqlite:${file}`);
  assert.equal(line, 'open');
  const refusal = {
    name: 'OperatorError',
    message: new RegExp(`s\\.db is in use by process ${holder.pid}\\. Stop that one first, or`),
  };
  await assert.rejects(openStore(`sqlite:${file}`), refusal);
  await assert.rejects(openStore(`sqlite:${file}`), refusal, 'a refusal must not break the lock');
  symlinkSync(file, `${file}-link`);
  await assert.rejects(
    openStore(`sqlite:${file}-link`),
    refusal,
    'another name of the file is the same store',
  );

  holder.stdin?.end();
  await once(holder, 'exit');
  assert.equal(existsSync(`${file}.pid`), false);
  await (await openStore(`sqlite:${file}`)).close();
});

test('Q9 what a killed owner leaves behind locks nobody out, though its process id lives again', async (context) => {
  const file = path.join(folder(context), 's.db');
  const [holder] = await startHolder(context, `sqlite:${file}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  assert.equal(existsSync(`${file}.pid`), true);
  writeFileSync(`${file}.pid`, `${process.ppid}\n`);
  const store = await openStore(`sqlite:${file}`);
  const [, line] = await startHolder(context, `sqlite:${file}`);
  assert.match(line, new RegExp(`refused .* is in use by process ${process.pid}\\.`));
  await store.close();
});

test('Q9 of several processes that start at once exactly one gets the store', async (context) => {
  const url = `sqlite:${folder(context)}/s.db`;
  const holders = await Promise.all([1, 2, 3, 4].map(() => startHolder(context, url)));
  const lines = holders.map(([, line]) => line).sort();
  assert.equal(lines[0], 'open');
  for (const line of lines.slice(1))
    assert.match(line, /^refused .* is in use by (another process|process \d+)\./);
});

test('Q9 one process can not open its store twice', async (context) => {
  const url = `sqlite:${folder(context)}/s.db`;
  const store = await openStore(url);
  await assert.rejects(openStore(url), new RegExp(`in use by process ${process.pid}\\.`));
  const [, line] = await startHolder(context, url);
  assert.match(line, /^refused/, 'the second opening broke the lock of the first');
  await store.close();
});
