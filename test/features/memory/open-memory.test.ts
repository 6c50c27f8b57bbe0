import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import {
  holderIn,
  openMemory,
  type Asker,
  type OpenMemory,
} from '../../../src/features/memory/open-memory.ts';
import { openStore } from '../../../src/store/open-store.ts';

const group: Asker = {
  conversation: { channel: 'slack', chat: 'C1', thread: '1.2' },
  chatType: 'group',
  external: false,
  sender: { id: 'slack:U1' },
};
const direct: Asker = { ...group, conversation: { channel: 'slack', chat: 'D1' }, chatType: 'private' };

async function open(asker: Asker): Promise<OpenMemory | undefined> {
  const parsed = parseConfig('', { env: {} });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const store = await openStore('sqlite::memory:');
  try {
    return await openMemory(asker, {
      runtime: () => ({ config }),
      store,
      migrations: { original: async (conversation) => conversation },
      accessOf: async ({ chatType, external, sender }) => ({
        ...{ by: 'person', sender: sender.id, chatType, external, chatIds: ['slack:C1'] },
      }),
      users: { isOwner: async () => false },
      settings: { forCall: () => async () => ({}) },
      audit: { record: async () => undefined },
      clock: { now: () => 1 },
    });
  } finally {
    await store.close();
  }
}

test('K2 notes of the team are looked up only where nobody from outside reads along', async () => {
  assert.deepEqual((await open(group))?.holders, ['chat slack:C1', 'team']);
  assert.deepEqual((await open(direct))?.holders, ['person slack:U1', 'team']);
  // One that lost the field, too.
  for (const external of [true, undefined as never])
    assert.deepEqual((await open({ ...group, external }))?.holders, ['chat slack:C1'], String(external));
});

test('K1 A3 in a chat of unknown kind nothing is kept and nothing is found', async () => {
  assert.equal(await open({ ...group, chatType: 'unknown' }), undefined);
  const kinds = ['private', 'group', 'channel', 'unknown', '', undefined];
  assert.deepEqual(
    kinds.map((chatType) => holderIn({ chatType, sender: 'slack:U1' } as never, 'slack:C1')),
    ['person slack:U1', 'chat slack:C1', 'chat slack:C1', undefined, undefined, undefined],
  );
  assert.equal(holderIn({ chatType: 'private', sender: '' }, 'slack:D1'), undefined);
});
