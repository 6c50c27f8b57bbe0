import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';

test('Q12 what was forgotten is in no byte of the store’s files, however long it was', async (context) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-forget-'));
  context.after(() => rmSync(dir, { recursive: true }));
  const store = await openStore(`sqlite:${dir}/s.db`);
  const files = () => Buffer.concat(readdirSync(dir).map((name) => readFileSync(path.join(dir, name))));
  const secret = (n: number) => `canary${n}`;
  for (let n = 0; n < 50; n++) {
    // Some fill pages of their own.
    const text = `${secret(n)} ${'x'.repeat(n % 3 === 0 ? 20_000 : 20)} ${secret(n)}`;
    await store.inbox.accept(makeMessage({ id: `telegram:42:${n}`, text }), { now: n });
    await store.commit({
      entries: [
        {
          transcript: 'telegram:42',
          entry: { kind: 'user', item: 'k', sender: 'telegram:42', content: text, at: n },
        },
        { transcript: 'telegram:7', entry: { kind: 'notice', text: `stays${n}`, at: n } },
      ],
      outbox: [
        {
          key: `telegram:42:${n}#0`,
          conversation: { channel: 'telegram', chat: '42' },
          part: { markdown: text },
        },
      ],
      // Half of them are long answered.
      ...(n % 2 === 0 ? { done: `telegram:42:${n}` } : {}),
    });
  }
  assert.ok(files().includes('canary'));
  await store.forget('telegram:42');
  const left = files();
  assert.ok(!left.includes('canary'), 'a word of theirs is still there');
  assert.ok(!left.includes('telegram:42'), 'their id is still there');
  assert.ok(left.includes('stays49'));
  await store.close();
});
