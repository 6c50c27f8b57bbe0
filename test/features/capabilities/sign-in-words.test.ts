import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmText, linkText } from '../../../src/features/capabilities/confirm-accounts.ts';
import type { OpenFlow } from '../../../src/features/capabilities/auth-flows.ts';

test('H12 a sign-in names the command that cancels it as the chat writes it', () => {
  const begun = { auth_url: 'https://provider.example/', flow_type: 'oauth' };
  const flow = {
    capability: 'mail.box',
    content: { skill: 'mail', requester: {}, begun },
  } as unknown as OpenFlow;
  assert.match(linkText(flow, '`/ask stop`'), /\n`\/ask stop` cancels it\.$/);
});

test('C6 S1 of a linked identity ten texts at most are shown, and none of them steers the message', () => {
  const flow = { id: 'ABCD2345', capability: 'mail.box', content: { requester: {} } } as OpenFlow;
  const metadata = {
    ...{ name: 'Ann\n\n# Approved', email: '`ann@example.org` [click](https://evil.example)' },
    ...{ '[click](https://evil.example)': 'x', verified: true, same: 'ann' },
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`more ${index}`, 'y'.repeat(100_000)])),
  };
  const text = confirmText(flow, { account_ref: 'ann', credential_material: { ref: 'vault:1' }, metadata });
  const outsideOfCode = text.replace(/`[^`\n]*`/g, '');
  assert.doesNotMatch(outsideOfCode, /evil|Approved|#/);
  assert.doesNotMatch(text, /vault|verified|same/);
  assert.equal(text.match(/^- /gm)?.length, 1 + 10);
  assert.ok(text.length < 1_500);
});
