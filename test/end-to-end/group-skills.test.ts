import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import type { SeenRequest } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

/** Ann alone may know of the ledger; both may know of the almanac. */
const skills = {
  ledger: '---\nname: ledger\ndescription: Reads the ledger.\ncontext: inline\n---\nLEDGER-BODY\n',
  almanac: '---\nname: almanac\ndescription: Reads the almanac.\ncontext: inline\n---\nALMANAC-BODY\n',
};
const toml = [
  '[access]\nusers = ["telegram:1001", "telegram:1002"]\ngroups_mode = "open"',
  `[agent]\npersona = "${'You are patient. '.repeat(300)}"`,
  '[skills]\nbundled = false',
  '[skills.ledger]\nallow_users = ["telegram:1001"]',
].join('\n');

const think: AnswerBlock = { type: 'thinking', thinking: 'Hm.' };
const use = (skill: string): ServerStep => ({
  content: [think, { type: 'tool_use', name: 'use_skill', input: { skill, message: 'x' } }],
});
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const isAnns = (body: MessagesRequest): boolean => JSON.stringify(body.system).includes('ledger');
const isSummary = (body: MessagesRequest): boolean => JSON.stringify(body.system).includes('keep the memory');

/** Answers what is asked for, by the skill that is named in it. */
function script(body: MessagesRequest): ServerStep {
  if (isSummary(body)) return 'They talked.';
  const last = lastOf(body);
  if (last.includes('-BODY')) return { content: [think, { type: 'text', text: 'I looked it up.' }] };
  const [, skill] = /look into the (\w+)/.exec(last) ?? [];
  if (skill !== undefined && !last.includes('tool_result')) return use(skill);
  return { content: [think, { type: 'text', text: 'As you say.' }] };
}

async function open(t: TestContext, small = false) {
  const little = '[models.small]\nmodel = "claude-sonnet-5-5"\ncontext_window = 6000\n';
  const set = await startWholeBot(t, {
    toml: small ? `${toml.replace('[agent]', '[agent]\nmodel = "small"')}\n${little}` : toml,
    ...{ skills, script },
  });
  const ann = set.telegram.person({ id: 1001, name: 'Ann' });
  const bob = set.telegram.person({ id: 1002, name: 'Bob' });
  const group = set.telegram.group();
  const say = async (who: typeof ann, text: string): Promise<string> => {
    who.says(`@test_bot ${text}`, { in: group });
    return (await group.nextMessage(/./)).text;
  };
  const intact = (): void => {
    assert.deepEqual(set.messages.refused, []);
    assert.deepEqual(
      set.messages.requests.flatMap(({ dropped }) => dropped),
      [],
    );
  };
  return { ...set, ann, bob, say, intact };
}

const bobs = (requests: readonly SeenRequest[]): string =>
  JSON.stringify(requests.filter(({ body }) => !isAnns(body)).map(({ body }) => body));

test('M13 A8 A11 two people with different skills take turns: all answered, and nothing of a hidden skill shows', async (t) => {
  const { messages, ann, bob, say, intact } = await open(t);
  assert.equal(await say(ann, 'look into the ledger'), 'I looked it up.');
  assert.equal(await say(bob, 'look into the almanac'), 'I looked it up.');
  assert.equal(await say(ann, 'and what was that?'), 'As you say.');
  assert.equal(await say(bob, 'and what was that?'), 'As you say.');
  assert.equal(await say(ann, 'look into the almanac'), 'I looked it up.');
  assert.equal(await say(bob, 'thanks'), 'As you say.');
  intact();
  const shown = bobs(messages.requests);
  // What Ann wrote and what she was answered was seen by everybody.
  assert.match(shown, /look into the ledger/);
  assert.doesNotMatch(shown, /LEDGER-BODY|"skill":"ledger"|Skill ledger|Reads the ledger/);
  assert.match(shown, /Skill almanac was followed/);
  const last = JSON.stringify(messages.requests.at(-1)?.body.messages);
  assert.equal(last.match(/"type":"tool_use"/g)?.length, 2, 'his own and the one that both may know of');
  const annsLast = messages.requests.findLast(({ body }) => isAnns(body));
  assert.match(JSON.stringify(annsLast?.body.messages), /Skill ledger was followed here/);
});

test('M13 a skill that a person starts by name shows to nobody who may not know of it', async (t) => {
  const { messages, ann, bob, say, intact } = await open(t);
  assert.equal(await say(ann, '/ledger the secret book'), 'I looked it up.');
  assert.equal(await say(bob, 'what was that?'), 'As you say.');
  intact();
  assert.doesNotMatch(bobs(messages.requests), /ledger|secret book|LEDGER-BODY/);
  assert.match(bobs(messages.requests), /I looked it up/);
});

test('M13 M9 a summary of a group holds only what everybody there may know of', async (t) => {
  const { messages, ann, bob, say, intact } = await open(t, true);
  await say(ann, 'look into the ledger');
  for (const word of ['one', 'two', 'three']) await say(ann, `${word} ${'word '.repeat(700)}`);
  await say(bob, 'thanks');
  intact();
  const summaries = messages.requests.filter(({ body }) => isSummary(body));
  assert.ok(summaries.length > 0);
  assert.doesNotMatch(JSON.stringify(summaries), /LEDGER-BODY|use_skill|Skill ledger/);
});

test('M13 M5 in a group the prompt cache holds for each class of people, from the second turn on', async (t) => {
  const { messages, ann, bob, say, intact } = await open(t);
  const before = new Map<string, number>();
  for (let turn = 0; turn < 8; turn++) {
    const [name, who] = turn % 2 === 0 ? (['Ann', ann] as const) : (['Bob', bob] as const);
    const from = messages.requests.length;
    await say(who, turn < 4 ? 'look into the almanac' : 'go on');
    for (const { usage } of messages.requests.slice(from)) {
      const read = usage.cache_read_input_tokens;
      const whole = usage.input_tokens + read + usage.cache_creation_input_tokens;
      const prefix = before.get(name);
      before.set(name, whole);
      if (prefix === undefined) continue;
      const share = Math.min(1, read / prefix);
      t.diagnostic(`turn ${turn + 1} (${name}): ${(share * 100).toFixed(1)} % of the prefix read`);
      assert.ok(share >= 0.9, `turn ${turn + 1}: ${share}`);
    }
  }
  intact();
});
