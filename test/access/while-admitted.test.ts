import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createPairing } from '../../src/access/pairing.ts';
import { createUsers } from '../../src/access/users.ts';
import { createStillAdmitted, whileAdmitted } from '../../src/access/while-admitted.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { toolContext } from '../support/tool-context.ts';

const { requester } = toolContext();
const { sender } = requester;

async function setUp(t: TestContext) {
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const access = { owners: [], general: { dm: 'pairing' as const }, channels: new Map(), chats: new Map() };
  const people = createUsers({
    stored: store.keyed('people'),
    access: () => ({ ...access, allowExternal: false }),
    migrations: createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock }),
  });
  const audit = { record: async () => undefined };
  const pairing = createPairing({ stored: store.keyed('pairing'), users: people, audit, clock });
  return { people, pairing, stillAdmitted: createStillAdmitted(people) };
}

for (const way of ['revoke', 'forget'] as const)
  test(`S11 nothing more is done for a person whose pairing ended (${way}), and no model is asked`, async (t) => {
    const { people, pairing, stillAdmitted } = await setUp(t);
    await people.pair({ sender, name: 'Ann', since: 1 });
    const model = scriptedModel(['hello', 'again']);
    const asked = { system: [], messages: [], tools: [] };
    const { complete } = whileAdmitted(model, requester, stillAdmitted);
    await complete(asked, new AbortController().signal);
    assert.ok(await (way === 'revoke' ? pairing.revoke(sender) : people.forget(sender)));
    const may = await stillAdmitted(requester);
    assert.equal(may.allowed || may.code, 'TOOL_POLICY_DENIED');
    await assert.rejects(complete(asked, new AbortController().signal), { name: 'ModelError' });
    assert.equal(model.requests.length, 1);
  });

test('S11 nothing more is done for an owner by claim who was forgotten', async (t) => {
  const { people, stillAdmitted } = await setUp(t);
  await people.addOwner(sender);
  assert.equal((await stillAdmitted(requester)).allowed, true);
  await people.forget(sender);
  assert.equal((await stillAdmitted(requester)).allowed, false);
});
