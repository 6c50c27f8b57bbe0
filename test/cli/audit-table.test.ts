import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditTable } from '../../src/cli/audit.ts';

const at = '2026-11-22T23:22:10.123Z';
const mac = 'a'.repeat(64);
const place = { sender: 'telegram:42', conversation: 'telegram:42', chatType: 'private' };

test('L6 audit tail is a table for people: when, what, who and where, how it ended', () => {
  const events = [
    {
      ...place,
      event: 'tool_call',
      call: 'toolu_1',
      tool: 'bash',
      skill: 'dice',
      run: 'r',
      risk: 'moderate',
      policy: 'approved',
      approvedBy: 'telegram:1',
      ok: false,
      codes: ['SCRIPT_FAILED'],
      durationMs: 12,
      argumentsHash: mac,
    },
    { event: 'pairing', verdict: 'approved', sender: 'telegram:66', by: 'telegram:1' },
    { ...place, conversation: 'telegram:-100', event: 'message_refused', code: 'NOT_ALLOWED' },
    { event: 'config_changed', keys: ['access.users'] },
  ];
  const lines = events.map((event, index) => JSON.stringify({ seq: index + 1, at, ...event, mac }));
  assert.deepEqual(auditTable(lines), [
    '2026-11-22 23:22:10 UTC  tool_call        telegram:42  bash  skill dice  approved  failed  SCRIPT_FAILED  by telegram:1  12 ms  risk=moderate',
    '2026-11-22 23:22:10 UTC  pairing          telegram:66  approved  by telegram:1',
    '2026-11-22 23:22:10 UTC  message_refused  telegram:42  in telegram:-100  NOT_ALLOWED',
    '2026-11-22 23:22:10 UTC  config_changed   keys=["access.users"]',
  ]);
});

test('L6 S1 nothing in a line of the audit reaches the terminal as a control sequence, or fills it', () => {
  const tool = `bash\u001b[2J\u202e${'x'.repeat(500)}`;
  const [shown = ''] = auditTable([
    JSON.stringify({
      seq: 1,
      at,
      ...place,
      event: 'tool_call_blocked',
      tool,
      arguments: 'y'.repeat(9_000),
      mac,
    }),
  ]);
  assert.doesNotMatch(shown, /\p{Cc}|\u202e/u);
  assert.ok(shown.length < 400, shown);
});
