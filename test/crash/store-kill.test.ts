import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';

const kills = Number(process.env['SKILLET_KILLS'] ?? 3);

/** Runs the writer, kills it when it has said `lines` lines, gives all that it said until it was dead. */
async function writeAndKill(url: string, round: number, lines: number): Promise<readonly string[]> {
  const script = path.join(import.meta.dirname, 'store-writer.ts');
  const child = spawn(process.execPath, [script, url, `${round}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    said.push(line);
    if (said.length === lines) child.kill('SIGKILL');
  }
  assert.deepEqual(await exited, [null, 'SIGKILL'], 'the writer ended by itself');
  return said;
}

async function assertHolds(store: Store, said: readonly string[]): Promise<void> {
  const keys = (what: string) =>
    said.filter((line) => line.startsWith(what)).map((line) => line.slice(what.length + 1));
  const waiting = new Set((await store.inbox.list('waiting')).map(({ key }) => key));
  const rows = await Promise.all(said.map((line) => store.outbox.next(`telegram:${line.split(' ')[1]}`, 1)));
  const unsent = new Set(rows.map((row) => row?.key));
  const answered = new Set(keys('answered'));
  for (const key of keys('accepted')) {
    const again = await store.inbox.accept(makeMessage({ id: key }), { now: 1 });
    assert.equal(again, 'duplicate', `${key} was accepted and is lost`);
    // The one under way may have been answered without having had the time to say so.
    const told = waiting.has(key) || answered.has(key) || unsent.has(`${key}#0`);
    assert.ok(told, `${key} will never be answered`);
  }
  for (const key of answered) {
    assert.ok(!waiting.has(key), `${key} was answered and would be again`);
    assert.ok(unsent.has(`${key}#0`), `the answer to ${key} is lost`);
  }
  for (const id of keys('journalled')) {
    assert.equal((await store.transcripts.read(id)).entries.length, 1, `the journal of ${id} is lost`);
  }
}

test(`Q7 a kill at any instant loses nothing that was accepted, journalled or answered (${kills} kills)`, async (context) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-kill-'));
  context.after(() => rmSync(dir, { recursive: true }));
  const url = `sqlite:${dir}/s.db`;
  const said: string[] = [];
  for (let round = 0; round < kills; round++) {
    const lines = 1 + Math.floor(Math.random() * 200);
    said.push(...(await writeAndKill(url, round, lines)));
    context.diagnostic(`killed after ${lines} lines`);
    const store = await openStore(url, { onKilled: (lost) => assert.equal(lost, undefined) });
    await assertHolds(store, said);
    await store.close();
  }
});
