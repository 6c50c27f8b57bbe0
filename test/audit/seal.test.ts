import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import { beginning, readLine, seal, verifyAudit, type Head } from '../../src/audit/seal.ts';

const key = Buffer.alloc(32, 1);
const other = Buffer.alloc(32, 2);
const event: AuditEvent = { event: 'config_changed', keys: ['bot'] };
const one = seal(key, beginning, 0, event);
const two = seal(key, one.head, 1, event);
const three = seal(key, two.head, 2, event);
const gapOf = (before: string): AuditEvent => ({ event: 'lines_missing', from: 2, to: 3, before });

test('L6 a line is sealed with its number, its time and the seal before', () => {
  const macOf = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  const body = '"at":"1970-01-01T00:00:00.000Z","event":"config_changed","keys":["bot"]';
  const mac = macOf(`\n{"seq":1,${body}}`);
  assert.deepEqual(one, { line: `{"seq":1,${body},"mac":"${mac}"}`, head: { seq: 1, mac } });
  const next = macOf(`${mac}\n{"seq":2,${body}}`);
  assert.deepEqual(seal(key, one.head, 0, event).head, { seq: 2, mac: next });
});

test('L6 only whole lines with a number and a seal at their end are lines of the audit', () => {
  const mac = 'a7'.repeat(32);
  const body = '{"seq":7,"x":"\\n}"}';
  const line = body.replace(/\}$/, `,"mac":"${mac}"}`);
  assert.deepEqual(readLine(line), { seq: 7, mac, body });
  for (const text of [
    ...['', 'hello', '{}', 'null', '[]', body, `${line}\n`, `${line}x`, `x${line}`, line.slice(0, -1)],
    ...[line.slice(1), line.replace('7', '0'), line.replace('7', '1.5'), line.replace('7', '"7"')],
    ...[line.replace(mac, `${mac}a`), line.replace(mac, `b${mac}`), line.replace(mac, mac.slice(1))],
    ...[line.replace(mac, mac.toUpperCase()), `{"mac":"${mac}","seq":7}`, `{"seq":7, "mac":"${mac}"}`],
    `{"seq":7,"mac":["${mac}"]}`,
  ])
    assert.equal(readLine(text), undefined, text);
});

type Case = readonly [what: string, lines: readonly string[], kept: Head | undefined, problems: string[]];

const cases: readonly Case[] = [
  ['nothing of nothing', [], undefined, []],
  ['an audit that the store does not know', [one.line, two.line], undefined, []],
  ['the whole of what was written', [one.line, two.line, three.line], three.head, []],
  ['lines that the store does not know yet', [one.line, two.line], one.head, []],
  ['an empty audit', [], two.head, ['0 is empty, but 2 lines were written']],
  ['a cut end', [one.line], three.head, ['1 is the last line, and 2 more were written']],
  ['another key', [seal(other, beginning, 0, event).line], undefined, ['1 was changed']],
  [
    'a number that does not follow, though sealed',
    [seal(key, { ...beginning, seq: 4 }, 0, event).line, seal(key, { ...beginning, seq: 4 }, 0, event).line],
    undefined,
    ['1 has the number 5', '2 follows line 5, but is number 5'],
  ],
  [
    'a chain that was written again',
    [seal(key, beginning, 9, event).line],
    one.head,
    ['1 is not what the store knows: it was written again'],
  ],
  [
    'a gap that was noticed',
    [one.line, seal(key, three.head, 3, gapOf(three.head.mac)).line],
    undefined,
    ['2 tells that the lines 2 to 3 were gone'],
  ],
  [
    'a gap that somebody made up',
    [one.line, seal(other, three.head, 3, gapOf(three.head.mac)).line],
    undefined,
    ['2 follows line 1, but is number 4'],
  ],
  [
    'more problems than it tells',
    Array.from({ length: 21 }, () => 'hello'),
    undefined,
    Array.from({ length: 20 }, (_, n) => `${n + 1} is no line of the audit`),
  ],
];

for (const [what, written, kept, problems] of cases)
  test(`L6 verify tells of ${what}`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-audit-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, '2026-01-01.jsonl');
    writeFileSync(file, written.map((line) => `${line}\n`).join(''));
    const report = await verifyAudit({ files: [file], key, kept, lost: 0 });
    const told = problems.map((text) => {
      const [, line, problem] = /^(\d+) (.*)$/.exec(text) ?? [];
      return { file: line === '0' ? '' : '2026-01-01.jsonl', line: Number(line), problem };
    });
    assert.deepEqual(report, { lines: written.length, files: 1, problems: told });
  });

test('L6 verify tells how many lines went with their key', async () => {
  const lost = { file: '', line: 0, problem: 'lacks 3 lines: they were deleted together with their key' };
  const report = await verifyAudit({ files: [], key, kept: undefined, lost: 3 });
  assert.deepEqual(report, { lines: 0, files: 0, problems: [lost] });
});
