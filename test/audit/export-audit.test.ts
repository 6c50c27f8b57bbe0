import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import { openAuditKey } from '../../src/audit/audit-files.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import type { ExportFilter } from '../../src/audit/export-audit.ts';
import { exportFormats, type ExportFormat } from '../../src/audit/export-formats.ts';
import { openStore } from '../../src/store/open-store.ts';
import { root } from '../support/documents.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { auditStage, day, refusal } from '../support/audit-stage.ts';
import { quietLog } from '../support/quiet-log.ts';

const verifier = path.join(root, 'examples/verify-audit/verify-audit.mjs');
const call = (chatType: string): AuditEvent => ({
  ...{ event: 'tool_call', sender: 'telegram:1', conversation: 'telegram:-5', chatType, tool: 'bash' },
  ...{
    risk: 'moderate',
    policy: 'allow',
    ok: true,
    codes: [],
    durationMs: 3,
    call: 'c',
    arguments: '{"secret":1}',
  },
});

/** An audit of three days with two lines each, of six people, and the verifier as an auditor runs it. */
async function stage(t: TestContext) {
  const { dataDir, clock, log, open, written } = await auditStage(t);
  const audit = await written();
  const keyFile = path.join(dataDir, 'audit.pub');
  await writeFile(keyFile, await audit.publicKey());
  let count = 0;
  const write = async (format: ExportFormat = 'jsonl', filter: ExportFilter = {}): Promise<string> => {
    const file = path.join(dataDir, `${(count += 1)}.${format}`);
    await audit.exportTo({ file, format, ...filter });
    return file;
  };
  const check = (...files: readonly string[]) => {
    const [file = '', ...earlier] = files;
    const { status, stdout, stderr } = spawnSync(process.execPath, [verifier, file, keyFile, ...earlier], {
      encoding: 'utf8',
    });
    return { status, text: stdout.replaceAll(`${dataDir}/`, '') + stderr };
  };
  return { dataDir, clock, log, audit, open, keyFile, write, check };
}

test('L18 the verifier is 100 lines at most and imports Node alone', async () => {
  const lines = (await readFile(verifier, 'utf8')).trimEnd().split('\n');
  assert.ok(lines.length <= 100, `${lines.length} lines`);
  for (const line of lines.filter((one) => one.startsWith('import'))) assert.match(line, /from 'node:/);
});

for (const format of exportFormats) {
  test(`L18 an export as ${format} is checked with the file and the public key alone, and any change is found`, async (t) => {
    const { dataDir, audit, write, check, keyFile } = await stage(t);
    const file = await write(format);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const { status, text: said } = check(file);
    assert.equal(said, `1.${format}: lines 1 to 6, 6 in words and 0 as hashes, as the bot wrote them.\n`);
    assert.equal(status, 0);
    const text = await readFile(file, 'utf8');
    const lines = text.trimEnd().split('\n');
    const first = format === 'csv' ? 1 : 0;
    const damages: readonly string[][] = [
      lines.map((line, at) => (at === first ? line.replace('2026-01-01', '2026-01-02') : line)),
      lines.toSpliced(first, 1),
      lines.toSpliced(first + 2, 0, lines[first]!),
      [...lines.slice(0, first), lines[first + 1]!, lines[first]!, ...lines.slice(first + 2)],
    ];
    for (const damaged of damages) {
      await writeFile(file, `${damaged.join('\n')}\n`);
      const found = check(file);
      assert.equal(found.status, 1, found.text);
      assert.match(found.text, /its text is not the text that was signed/);
    }
    await writeFile(file, text);
    // The key of another bot has not signed it.
    const other = createAudit({
      ...{
        dataDir: path.join(dataDir, 'other'),
        keyed: () => new Map() as never,
        clock: createManualClock(),
      },
      log: quietLog(),
    });
    await assert.rejects(other.publicKey(), /nothing was recorded yet/);
    await openAuditKey(path.join(dataDir, 'other'));
    await writeFile(keyFile, await other.publicKey());
    assert.match(check(file).text, /not signed with this key/);
    assert.equal((await audit.verify()).problems.length, 0);
  });

  test(`L18 lines of others are only hashes in an export of one person as ${format}, and the chain is whole`, async (t) => {
    const { audit, write, check } = await stage(t);
    await audit.record(refusal('telegram:2'));
    const file = await write(format, { person: 'telegram:2' });
    assert.match(check(file).text, /lines 1 to 7, 2 in words and 5 as hashes, as the bot wrote them/);
    const text = await readFile(file, 'utf8');
    for (const other of ['telegram:1', 'telegram:3']) assert.ok(!text.includes(other), other);
    const wanted = await write(format, { since: '2026-01-02T00:00:00Z', until: '2026-01-03T00:00:00Z' });
    assert.match(check(wanted).text, /lines 3 to 4, 2 in words and 0 as hashes/);
    const none = await write(format, { since: '2027-01-02T00:00:00Z' });
    assert.match(check(none).text, /no lines, 0 in words/);
  });

  test(`L18 S8 an export as ${format} shows nothing of what a call in a direct message is made with`, async (t) => {
    const { audit, write, check } = await stage(t);
    await audit.record(call('private'));
    await audit.record(call('group'));
    const file = await write(format);
    assert.match(check(file).text, /lines 1 to 8, 7 in words and 1 as hashes/);
    const text = await readFile(file, 'utf8');
    const [direct = '', shared = ''] = text.trimEnd().split('\n').slice(-3);
    const decoded = direct.replace(/[A-Za-z0-9+/=]{80,}/g, (part) => Buffer.from(part, 'base64').toString());
    assert.ok(decoded.includes('(direct)') && !decoded.includes('secret'), decoded);
    assert.match(shared, /secret/);
  });
}

test('L18 forgetting somebody leaves the chain whole: an export from before still fits one from after', async (t) => {
  const { audit, write, check } = await stage(t);
  const before = await write('jsonl', { until: '2026-01-03T00:00:00Z' });
  assert.match(await readFile(before, 'utf8'), /telegram:1/);
  await audit.forget(['telegram:1']);
  await audit.record({ event: 'forgotten', subject: 'x', counts: {} });
  const after = await write('jsonl');
  assert.ok(!(await readFile(after, 'utf8')).includes('telegram:1'));
  assert.deepEqual([check(after, before).status, check(after).status], [0, 0]);
  // An export that continues the earlier one fits, too; one that leaves lines out between them does not.
  assert.equal(check(await write('csv', { since: '2026-01-03T00:00:00Z' }), before).status, 0);
  const gap = check(await write('csv', { since: '2026-01-03T12:00:00Z' }), before);
  assert.match(gap.text, /does not reach line 4/);
});

test('L18 a record that was written again with its key and store does not fit an earlier export', async (t) => {
  const { dataDir, write, check } = await stage(t);
  const before = await write();
  const folder = path.join(dataDir, 'audit');
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
  // Whoever has key and store can begin a new chain under the same key.
  const store = await openStore('sqlite::memory:');
  t.after(store.close);
  const forged = createAudit({ dataDir, keyed: store.keyed, clock: createManualClock(), log: quietLog() });
  for (let n = 0; n < 6; n++) await forged.record(refusal(`telegram:${n}`, 'ALLOWED'));
  const file = path.join(dataDir, 'forged.jsonl');
  await forged.exportTo({ file, format: 'jsonl' });
  assert.equal(check(file).status, 0);
  assert.match(check(file, before).text, /up to line 6 it differs from/);
});

test('L18 an export of a damaged audit says so in its proof', async (t) => {
  const { dataDir, audit, write, check } = await stage(t);
  const [name = ''] = await readdir(path.join(dataDir, 'audit'));
  const file = path.join(dataDir, 'audit', name);
  await writeFile(file, (await readFile(file, 'utf8')).replace('STRANGER', 'NOBODY'));
  const { problems } = await audit.exportTo({ file: path.join(dataDir, 'x.csv'), format: 'csv' });
  assert.equal(problems.length, 1);
  const found = check(await write());
  assert.equal(found.status, 1);
  assert.match(found.text, /the bot itself found: 2026-01-01\.jsonl line 1 was changed/);
});

test('L18 no cell of a CSV export acts as a formula', async (t) => {
  const { audit, write, check } = await stage(t);
  await audit.record(refusal('slack:=cmd()', '=HYPERLINK("x")'));
  await audit.record({ event: 'mcp_agreed', server: '@sum', tools: ['x\t=1+1', '-2+3'] });
  const file = await write('csv');
  const text = await readFile(file, 'utf8');
  for (const cell of text.split('\n').flatMap((line) => line.split(/[,;\t|]/)))
    assert.doesNotMatch(cell, /^"?[=@]|^"?[+-]\D/, cell);
  assert.equal(check(file).status, 0);
});

test('L18 an export as OTLP is one request of logs a line, with times in nanoseconds and typed attributes', async (t) => {
  const { audit, write } = await stage(t);
  await audit.record(call('group'));
  const lines = (await readFile(await write('otlp'), 'utf8')).trimEnd().split('\n');
  type Logs = { resourceLogs: { scopeLogs: { logRecords: Record<string, unknown>[] }[] }[] };
  const records = lines.map(
    (line) => (JSON.parse(line) as Logs).resourceLogs[0]?.scopeLogs[0]?.logRecords[0],
  );
  const made = records.at(-2);
  assert.equal(made?.['timeUnixNano'], '1767484800000000000');
  assert.equal(made['eventName'], 'skillet.audit.tool_call');
  const attributes = made['attributes'] as { key: string; value: object }[];
  const of = (key: string) => attributes.find((one) => one.key === key)?.value;
  assert.deepEqual(['skillet.audit.seq', 'user.id', 'skillet.audit.ok', 'skillet.audit.codes'].map(of), [
    { intValue: '7' },
    { stringValue: 'telegram:1' },
    { boolValue: true },
    { arrayValue: { values: [] } },
  ]);
});

test('L18 retention removes whole days of the record, says so in it, and what is left is whole and exportable', async (t) => {
  const { dataDir, audit, write, check, open, clock } = await stage(t);
  const early = await write('jsonl', { until: '2026-01-03T00:00:00Z' });
  await audit.prune(clock.now() - day);
  assert.deepEqual(await readdir(path.join(dataDir, 'audit')), ['2026-01-03.jsonl', '2026-01-04.jsonl']);
  assert.match((await audit.tail(1))[0] ?? '', /"event":"lines_expired","from":1,"to":4/);
  const again = open();
  assert.deepEqual(await again.verify(), { lines: 3, files: 2, problems: [] });
  const names = JSON.stringify(await again.tail(10));
  assert.ok(names.includes('telegram:5') && !names.includes('telegram:1'));
  const file = await write();
  assert.match(check(file).text, /lines 5 to 7/);
  assert.equal(check(file, early).status, 0);
  // The first lines that are left can't be cut off unnoticed.
  const first = path.join(dataDir, 'audit/2026-01-03.jsonl');
  const [, second = ''] = (await readFile(first, 'utf8')).split('\n');
  await writeFile(first, `${second}\n`);
  assert.match(JSON.stringify((await again.verify()).problems), /follows line 4, but is number 6/);
  await audit.record(refusal('telegram:9'));
  await audit.prune(clock.now() + 9 * day);
  assert.equal((await readdir(path.join(dataDir, 'audit'))).length, 2, 'a damaged part stays');
});

test('L18 retention of the record that was cut off is completed the next time', async (t) => {
  const { dataDir, audit, open, clock } = await stage(t);
  const folder = path.join(dataDir, 'audit');
  const file = path.join(folder, '2026-01-01.jsonl');
  const text = await readFile(file, 'utf8');
  await audit.prune(clock.now() - 2 * day);
  // As after a kill between the store and the files.
  await writeFile(file, text);
  assert.deepEqual(await open().verify(), { lines: 5, files: 4, problems: [] });
  await open().prune(clock.now() - 2 * day);
  assert.equal((await readdir(folder)).length, 3);
  assert.deepEqual(await open().verify(), { lines: 5, files: 3, problems: [] });
});
