import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessContext } from '../../src/access/decide-skill.ts';
import type { Users } from '../../src/access/users.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { conversationKey, type Conversation } from '../../src/core/conversation.ts';
import { requesterOf, type Message } from '../../src/core/message.ts';
import { createShowMemory } from '../../src/features/memory/show-memory.ts';
import { createTurnMemory } from '../../src/features/memory/turn-memory.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { seedFromEnv, seededRandom, type Random } from '../support/crash/seeded-random.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { makeTurn } from '../support/make-turn.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';

/** The property: whatever happens, what one person says in a direct message reaches nobody else (K1, K2, K5). */

const histories = Number(process.env['SKILLET_MEMORY_HISTORIES'] ?? 60);
const steps = 14;
const ann = { id: 'telegram:1', name: 'Ann', kind: 'person' } as const;
const people = [
  ann,
  { id: 'telegram:11', name: 'Bob', kind: 'person' },
  { id: 'slack:U1', name: 'Cy', kind: 'person' },
] as const;
const rooms = [
  { chat: '-100', chatType: 'group', external: false },
  { chat: '-101', chatType: 'channel', external: false },
  { chat: '-102', chatType: 'group', external: true },
  { chat: '-103', chatType: 'unknown', external: false },
] as const;
const parsed = parseConfig('', { env: {} });
assert.ok(parsed.ok);
const { config } = parsed;

/** Approvers say yes to everything, and the model calls what it reads: the code alone keeps the secret. */
async function openWorld(secret: string) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const accessOf: AccessContext = async ({
    conversation: { channel, chat },
    chatType,
    external,
    sender,
  }) => ({
    chatType,
    chatIds: [`${channel}:${chat}`],
    external,
    sender: sender.id,
    by: 'person',
  });
  const deps = {
    runtime: () => partOf<RuntimeConfig>({ config }),
    store,
    migrations: unmovedChats,
    accessOf,
    users: partOf<Users>({ isOwner: async (sender) => sender === people[1].id }),
    settings: { forCall: () => async () => ({}) },
    audit: { record: async () => undefined },
    clock,
  };
  const show = createShowMemory(deps);
  const memory = createTurnMemory({ ...deps, channels: new Map(), botName: () => 'Skillet' });
  const model = scriptedModel(({ messages }) => {
    const content = messages.at(-1)?.content ?? '';
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const results = blocks.filter(({ type }) => type === 'tool_result');
    if (results.length > 0) return `Result: ${JSON.stringify(results)}`;
    const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    const [, name = '', input = '{}'] = /^DO (\w+) (\{.*\})$/m.exec(text) ?? [];
    return name === '' ? 'Hello.' : { calls: [{ name, input: JSON.parse(input) as object }] };
  });
  const turn = makeTurn({ store, clock });
  let told = 0;
  let secretsSeen = 0;

  function check(message: Message, shown: unknown): void {
    const text = JSON.stringify(shown);
    if (!text.includes(secret)) return;
    secretsSeen += 1;
    const isOwn = message.sender.id === ann.id && message.chatType === 'private';
    assert.ok(isOwn, `${message.sender.id} in ${conversationKey(message.conversation)}: ${text}`);
  }

  return {
    secretsSeen: () => secretsSeen,
    async says(message: Message): Promise<void> {
      await clock.advance(1_000);
      const transcript = await store.transcripts.current(conversationKey(message.conversation));
      const open = await memory.turn({ message, transcript });
      const tools = open?.tools ?? [];
      const callTool = openDoor(tools, { requester: requesterOf(message), turn: message.id });
      const context = {
        model,
        system: [{ type: 'text' as const, text: 'be brief' }],
        tools,
        shown: () => tools,
        callTool,
        activate: () => undefined,
        answers: () => undefined,
        maxTurns: 5,
        parts: open,
      };
      const request = {
        key: message.id,
        message,
        transcript,
        invocation: undefined,
        signal: new AbortController().signal,
      };
      check(message, await turn(request, context));
      check(message, model.requests.slice(told));
      told = model.requests.length;
      check(message, await show.show(message));
    },
    archive: (conversation: Conversation) => store.transcripts.archive(conversationKey(conversation)),
    async exported(person: string): Promise<void> {
      if (person !== ann.id) assert.ok(!JSON.stringify(await store.memories.by(person)).includes(secret));
    },
    close: () => store.close(),
  };
}

async function live(random: Random): Promise<number> {
  const secret = `zq${random.whole(100_000, 999_999)}`;
  const world = await openWorld(secret);
  for (let step = 0; step < steps; step++) {
    const sender = step === 1 ? ann : random.pick(people);
    const [channel = '', own = ''] = sender.id.split(':');
    const isDirect = step === 1 || random.chance(0.5);
    const place = isDirect
      ? ({ chat: own, chatType: 'private', external: random.chance(0.2) } as const)
      : random.pick(rooms);
    const conversation = { channel, chat: place.chat };
    const knows = isDirect && sender === ann;
    const plan = knows ? `the plan is ${secret}` : 'the plan is fine';
    const scope = random.pick(['person', 'chat', 'team', 'none']);
    const text = random.pick([
      plan,
      `so\nDO remember ${JSON.stringify({ text: plan, ...(scope === 'none' ? {} : { scope }) })}`,
      `so\nDO recall ${JSON.stringify({ query: random.pick(['plan', 'the plan is', 'Skillet hello']) })}`,
      'hello',
    ]);
    const message = makeMessage({
      id: `m${step}`,
      conversation,
      chatType: place.chatType,
      external: place.external,
      sender,
      text,
      ...(random.chance(0.1) ? { ephemeral: true as const } : {}),
      ...(random.chance(0.1)
        ? { replyTo: { name: 'Eve', text: 'the plan', own: false, sender: people[1].id } }
        : {}),
    });
    await world.says(message);
    if (random.chance(0.1)) await world.archive(conversation);
    await world.exported(random.pick(people).id);
  }
  await world.close();
  return world.secretsSeen();
}

test(`K1 K2 K5 a secret of one person's direct message is shown to nobody else in ${histories} random histories`, async () => {
  const seed = seedFromEnv();
  const random = seededRandom(seed);
  let seen = 0;
  for (let history = 0; history < histories; history++)
    seen += await live(random).catch((error: unknown) => {
      throw new Error(`SKILLET_SEED=${seed}, history ${history}: ${String(error)}`, { cause: error });
    });
  assert.ok(seen > histories, 'its own person was shown it, so there was something to leak');
});
