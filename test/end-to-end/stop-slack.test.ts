import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const never = new Promise<void>(() => undefined);
const held = (text: string, hold = never) => ({ content: [{ type: 'text' as const, text }], wire: { hold } });
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const dig = '---\nname: dig\ndescription: Digs for a long time.\n---\nDig and say what you found.\n';
const callDig = (id: string, input: object = {}) => ({
  content: [
    {
      type: 'tool_use' as const,
      id,
      name: 'use_skill',
      input: { skill: 'dig', message: 'Find the map.', ...input },
    },
  ],
});

/** The bot on Slack with the agent view, two people, and a channel of theirs. */
async function setUp(t: TestContext, script: WholeBotOptions['script'], toml = '') {
  const set = await startWholeBot(t, {
    channels: ['slack'],
    slack: 'agent_view = true\n',
    toml: `[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n${toml}`,
    skills: { dig },
    ...(script === undefined ? {} : { script }),
  });
  const { slack } = set;
  const [anna, bob] = ['anna', 'bob'].map((name) => slack.workspace.addUser(name));
  assert.ok(anna && bob);
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bob.id] });
  /** The statuses of a thread's session so far. */
  const statuses = (ts: string) =>
    slack.shown
      .all()
      .flatMap(({ kind, thread, status }) => (kind === 'session' && thread === ts ? [status] : []));
  const untilSession = (ts: string, status: string, nth = 1) =>
    slack.shown.until(
      ({ kind, thread }) =>
        kind === 'session' && thread === ts && statuses(ts).filter((one) => one === status).length >= nth,
    );
  const own = () =>
    [...slack.workspace.rooms.values()].flatMap(({ messages }) =>
      messages
        .filter(({ user, deleted }) => user === slack.workspace.bot.user && !deleted)
        .map(({ text }) => text),
    );
  return { ...set, anna, bob, room, statuses, untilSession, own };
}

test('U15 Slack’s stop button ends an answer, keeps its words, and the session is active again', async (t) => {
  const { slack, messages, anna, statuses, untilSession, own } = await setUp(t, (body) =>
    /is it so/.test(lastOf(body)) ? held('I guess so, then.') : 'As I said.',
  );
  const asked = slack.people.dm(anna, 'is it so?');
  await slack.posted(({ text }) => text.startsWith('I guess so'));
  await slack.people.stop(anna, asked);
  await slack.posted(({ text }) => text === 'I guess so, then.\n\nStopped.');
  await untilSession(asked.ts, 'active');
  assert.deepEqual(statuses(asked.ts), ['processing', 'active']);
  const next = slack.people.dm(anna, 'and now?', { thread: asked.ts });
  await slack.posted(({ text }) => text === 'As I said.');
  const seen = JSON.stringify(messages.requests.at(-1)?.body.messages);
  assert.match(seen, /I guess so, then./);
  assert.match(seen, /The work was stopped in the middle of the answer above/);
  await untilSession(asked.ts, 'active', 2);
  assert.deepEqual(own(), ['I guess so, then.\n\nStopped.', 'As I said.']);
  assert.ok((await next.delivered).every(({ acked }) => acked));
});

test('U15 a stop that comes after its answer ends nothing that was asked later', async (t) => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const { slack, anna, untilSession, own } = await setUp(t, (body) =>
    /first/.test(lastOf(body)) ? held('One.', gates[0].promise) : held('Two.', gates[1].promise),
  );
  const asked = slack.people.dm(anna, 'the first');
  await slack.posted(({ text }) => text.startsWith('One'));
  slack.knobs.held = true;
  const late = slack.people.stop(anna, asked);
  gates[0].resolve();
  await untilSession(asked.ts, 'active');
  slack.people.dm(anna, 'the second', { thread: asked.ts });
  // The question overtakes the press.
  slack.release((waiting) => waiting.toReversed());
  await slack.posted(({ text }) => text.startsWith('Two'));
  await late;
  gates[1].resolve();
  await untilSession(asked.ts, 'active', 2);
  await slack.posted(({ text }) => text === 'Two.');
  assert.deepEqual(own(), ['One.', 'Two.']);
});

test('U15 in a channel another person’s press is refused alone; the requester’s ends only their turn', async (t) => {
  const { slack, anna, bob, room, statuses, untilSession, own } = await setUp(t, (body) =>
    held(/<message[^>]*>\\n(?:[^<]*)second/.test(lastOf(body)) ? 'About second.' : 'About first.'),
  );
  const asked = slack.people.mention(anna, room, 'the first');
  await slack.posted(({ text }) => text === 'About first.');
  slack.people.mention(bob, room, 'the second', { thread: asked.ts });
  await slack.people.stop(bob, asked);
  const refused = await slack.shown.until(({ kind, user }) => kind === 'ephemeral' && user === bob.id);
  assert.match(String(refused['text']), /^Only `anna` or an owner can stop what is running here\.$/);
  assert.equal(statuses(asked.ts).at(-1), 'processing');
  await slack.people.stop(anna, asked);
  await slack.posted(({ text }) => text === 'About first.\n\nStopped.');
  await slack.posted(({ text }) => text === 'About second.');
  await untilSession(asked.ts, 'processing', 1);
  await slack.people.stop(bob, asked);
  await slack.posted(({ text }) => text === 'About second.\n\nStopped.');
  assert.deepEqual(own(), ['About first.\n\nStopped.', 'About second.\n\nStopped.']);
});

test('U15 a press ends the run that its turn waits for, and no earlier run in the background', async (t) => {
  const gate = Promise.withResolvers<void>();
  const digging = Promise.withResolvers<void>();
  let runs = 0;
  const { slack, anna, untilSession, own } = await setUp(t, (body) => {
    if (isRun(body)) {
      if (++runs === 2) digging.resolve();
      return held('The map is under the oak.', gate.promise);
    }
    const last = lastOf(body);
    if (/under the oak/.test(last)) return 'Found: under the oak.';
    if (/tool_result/.test(last)) return 'It runs.';
    return /later/.test(last) ? callDig('toolu_1', { background: true }) : callDig('toolu_2');
  });
  const asked = slack.people.dm(anna, 'dig later');
  await slack.posted(({ text }) => text === 'It runs.');
  await untilSession(asked.ts, 'active');
  slack.people.dm(anna, 'dig now', { thread: asked.ts });
  await digging.promise;
  await slack.people.stop(anna, asked);
  await slack.posted(({ text }) => text === 'Stopped.');
  gate.resolve();
  await slack.posted(({ text }) => text === 'Found: under the oak.');
  await untilSession(asked.ts, 'active', 3);
  assert.deepEqual(own(), ['It runs.', 'Stopped.', 'Found: under the oak.']);
});

test('U15 T8 the session is suspended while an approval is open, and a press that comes then cancels it', async (t) => {
  const { slack, anna, statuses, untilSession } = await setUp(
    t,
    () => callDig('toolu_1'),
    '[[policy.rules]]\ntool = "use_skill"\naction = "confirm"\n',
  );
  slack.knobs.held = true;
  const asked = slack.people.dm(anna, 'dig');
  slack.release();
  await untilSession(asked.ts, 'suspended');
  const question = await slack.posted(({ blocks }) => JSON.stringify(blocks ?? []).includes('Approve'));
  // The button is gone by now, but the press may have been made a moment before.
  slack.workspace.sessions.set(`${asked.channel} ${asked.ts}`, { status: 'processing', title: undefined });
  await slack.people.stop(anna, asked);
  await slack.posted(({ text }) => text === 'Stopped.');
  await slack.posted(({ ts, text }) => ts === question.ts && /^Stopped/.test(text));
  await untilSession(asked.ts, 'active');
  assert.deepEqual(statuses(asked.ts).slice(0, 2), ['processing', 'suspended']);
});

test('U15 U14 Q5 the session is active again when an open question expires, also if the bot did not run then', async (t) => {
  const { slack, bot, restart, home, anna, statuses, untilSession } = await setUp(t, (body) => {
    if (isRun(body))
      return {
        content: [{ type: 'tool_use', id: 'toolu_2', name: 'ask_person', input: { question: 'Where?' } }],
      };
    return /needs_input/.test(lastOf(body)) ? 'Where shall I dig?' : callDig('toolu_1');
  });
  const asked = slack.people.dm(anna, 'dig');
  await slack.posted(({ text }) => text === 'Where shall I dig?');
  await untilSession(asked.ts, 'suspended');
  await bot.idle();
  await bot.close();
  assert.equal(statuses(asked.ts).at(-1), 'suspended');
  const database = new DatabaseSync(path.join(home, 'data', 'skillet.db'));
  assert.equal(database.prepare('UPDATE pending_requests SET expires_at = 1').run().changes, 1);
  database.close();
  await restart();
  await untilSession(asked.ts, 'active');
});
