import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import { openAuditKey } from '../../src/audit/audit-files.ts';
import { createAudit, lostEnd, refuseLostStore } from '../../src/audit/create-audit.ts';
import { beginning, seal, type Head } from '../../src/audit/seal.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Values } from '../../src/store/patient-keyed.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const day = 86_400_000;
const approval = (id: string, by = 'slack:U1'): AuditEvent => ({
  ...{ event: 'approval', id, tool: 'bash', conversation: 'slack:C1/1.2', requester: by, outcome: 'denied' },
});
const refusal = (sender: string, conversation: string, chatType = 'private'): AuditEvent => ({
  ...{ event: 'message_refused', sender, conversation, chatType, code: 'STRANGER' },
});

async function stage(t: TestContext) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'skillet-audit-'));
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const log = quietLog();
  const sets: unknown[] = [];
  const keyed = (namespace: string): Values => {
    const values = store.keyed(namespace);
    return {
      ...values,
      iterator: values.iterator.bind(values),
      get: values.get.bind(values),
      delete: values.delete.bind(values),
      async set(key, value) {
        if (namespace === 'audit') sets.push([key, value]);
        return values.set(key, value);
      },
    };
  };
  const open = (place?: string) =>
    createAudit({ dataDir, keyed, clock, log, ...(place === undefined ? {} : { place }) });
  const file = (name: string): string => path.join(dataDir, 'audit', name);
  const stored = async (namespace: string): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = {};
    for await (const [key, value] of store.keyed(namespace).iterator()) found[String(key)] = value;
    return found;
  };
  return { dataDir, clock, store, log, sets, open, file, stored };
}

/** Lines with their seals, as a bot with this key writes them. */
function chainOf(key: Buffer, length: number): readonly { line: string; head: Head }[] {
  const made: { line: string; head: Head }[] = [];
  for (let n = 0; n < length; n++)
    made.push(seal(key, made.at(-1)?.head ?? beginning, n, { event: 'config_changed', keys: [] }));
  return made;
}

test('L6 the store has the head before the first line and behind each batch, with the place of the audit', async (t) => {
  const { dataDir, sets, open, stored } = await stage(t);
  await open('host:/data').record(refusal('slack:U1', 'slack:D1'));
  const { chain } = await openAuditKey(dataDir);
  const [first] = Object.values(await stored('audit')) as Head[];
  assert.deepEqual(sets, [
    [chain, { seq: 0, mac: '', place: 'host:/data' }],
    [chain, { seq: 1, mac: first?.mac, place: 'host:/data' }],
  ]);
  assert.deepEqual(Object.values(await stored('audit-names')).toSorted(), ['slack:D1', 'slack:U1']);
  await open().record(refusal('slack:U1', 'slack:D1'));
  assert.deepEqual(
    sets.slice(2).map((set) => (set as [string, object])[1]),
    [{ ...(await stored('audit'))[chain]!, seq: 2, place: '' }],
  );
});

test('L6 what recording finds amiss is in the log, with all that the operator needs', async (t) => {
  const { log, open, file } = await stage(t);
  const logged = () => log.lines.map(({ level, fields }) => ({ level, ...fields }));
  const audit = open();
  await audit.record(approval('a1'));
  await audit.record(approval('a2'));
  const name = file('2026-01-01.jsonl');
  const lines = await readFile(name, 'utf8');
  writeFileSync(name, `${lines}hello\n`);
  await open().record(approval('a3'));
  assert.deepEqual(logged(), [
    { level: 'error', file: name },
    { level: 'error', from: 1, to: 2 },
  ]);
  writeFileSync(name, '');
  await open().record(approval('a4'));
  assert.deepEqual(logged().slice(2), [{ level: 'error', from: 1, to: 4 }]);
  rmSync(file('.'), { recursive: true });
  writeFileSync(file(''), 'in the way');
  await open().record(approval('a5'));
  const [failed] = log.lines.slice(3);
  assert.deepEqual(failed?.fields['events'], ['approval']);
  assert.ok(failed?.fields['err'] instanceof Error);
});

test('L6 the last lines are those of the newest days, as many as are wanted', async (t) => {
  const { clock, open, file } = await stage(t);
  const audit = open();
  assert.deepEqual(await audit.tail(3), []);
  for (const id of ['a1', 'a2', 'b1', 'b2', 'c1']) {
    if (['b1', 'c1'].includes(id)) await clock.advance(day);
    void audit.record(approval(id));
    await audit.settled();
  }
  writeFileSync(file('2026-01-04.jsonl'), '');
  const ids = async (lines: number) =>
    (await audit.tail(lines)).map((line) => (JSON.parse(line) as { id: string }).id);
  const all = ['a1', 'a2', 'b1', 'b2', 'c1'];
  for (let lines = 0; lines <= 6; lines++)
    assert.deepEqual(await ids(lines), all.slice(Math.max(0, all.length - lines)), String(lines));
  assert.match((await audit.tail(1))[0] ?? '', /"conversation":"slack:C1\/1\.2","requester":"slack:U1"/);
  assert.deepEqual((await readdir(file('.'))).length, 4);
});

test('L6 an approval is found by its id in the days since it was asked', async (t) => {
  const { clock, open } = await stage(t);
  const audit = open();
  assert.equal(await audit.holds('a1', 0), false);
  const since = clock.now();
  await clock.advance(day / 2);
  await audit.record(approval('a1'));
  await clock.advance(day);
  void audit.record(approval('b"1'));
  for (const [id, from, held] of [
    ['a1', since, true],
    ['a1', since + day - 1, true],
    ['a1', since + day, false],
    ['b"1', since, true],
    ['b"1', since + 2 * day - 1, true],
    ['a', since, false],
    ['none', since, false],
  ] as const)
    assert.equal(await audit.holds(id, from), held, `${id} ${from}`);
});

test('L6 Q12 whom the bot met in direct messages is told until they are forgotten', async (t) => {
  const { clock, open } = await stage(t);
  const audit = open();
  assert.deepEqual(await audit.meetings(), []);
  await audit.record(refusal('slack:U1', 'slack:D1/1.2'));
  await audit.record(refusal('slack:U2', 'slack:C1', 'group'));
  await clock.advance(day);
  void audit.record(refusal('slack:U3', 'slack:D3'));
  const third = { sender: 'slack:U3', room: 'slack:D3' };
  assert.deepEqual(await audit.meetings(), [{ sender: 'slack:U1', room: 'slack:D1' }, third]);
  await audit.forget(['slack:D1']);
  assert.deepEqual(await audit.meetings(), [third]);
});

test('L6 lines written at once are on the disk when recording has settled, and verify counts them', async (t) => {
  const { open, file } = await stage(t);
  const audit = open();
  await audit.settled();
  for (let n = 0; n < 40; n++) void audit.record(approval(`a${n}`));
  await audit.settled();
  assert.equal((await readFile(file('2026-01-01.jsonl'), 'utf8')).split('\n').length, 41);
  void audit.record(approval('last'));
  assert.deepEqual(await audit.verify(), { lines: 41, files: 1, problems: [] });
});

test('Q11 L6 an empty store beside lines of an audit is refused, any other is not', async (t) => {
  const { dataDir, store, file } = await stage(t);
  const check = () => refuseLostStore(dataDir, store.keyed('audit'));
  await check();
  mkdirSync(file('.'));
  writeFileSync(file('2026-01-01.jsonl'), '');
  await check();
  await writeFile(file('2026-01-01.jsonl'), 'a line\n');
  await assert.rejects(check(), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /the store is empty/);
    return true;
  });
  await store.keyed('audit').set('chain', { seq: 1 });
  await check();
});

test('Q11 L6 a store that does not know more lines of the audit than one batch has lost its end', async (t) => {
  const { dataDir, store, file } = await stage(t);
  const stored = store.keyed('audit');
  const name = file('2026-01-01.jsonl');
  const told = async () =>
    Number(/the last (\d+) lines/.exec((await lostEnd(dataDir, stored)) ?? '')?.[1] ?? 0);
  mkdirSync(file('.'));
  assert.equal(await told(), 0);
  for (const day of ['30', '31']) writeFileSync(file(`2025-12-${day}.jsonl`), 'hello\n');
  assert.equal(await lostEnd(dataDir, stored), undefined);
  await assert.rejects(stat(path.join(dataDir, 'audit.key')), { code: 'ENOENT' }, 'it makes no key');
  const { key, chain } = await openAuditKey(dataDir);
  for (const text of ['hello\n', 'cut', '']) {
    writeFileSync(name, text);
    assert.equal(await told(), 0, text);
  }
  const lines = chainOf(key, 20);
  for (const { line } of lines.slice(0, 16)) appendFileSync(name, `${line}\n`);
  assert.equal(await told(), 0);
  appendFileSync(name, `${lines[16]!.line}\n`);
  assert.equal(await told(), 17);
  for (const [seq, lost] of [
    [0, 17],
    [1, 0],
    [17, 0],
    [40, 0],
  ] as const) {
    await stored.set(chain, { seq, mac: '' });
    assert.equal(await told(), lost, String(seq));
  }
});
