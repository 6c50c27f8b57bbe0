import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ServerStep } from '../servers/messages/answer.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const dig =
  '---\nname: dig\ndescription: Digs for a long time.\nallowed_tools: [bash]\n---\nDig and say what you found.\n';
const call = (id: string, name: string, input: object) => ({ type: 'tool_use' as const, id, name, input });
const callDig = { content: [call('toolu_dig', 'use_skill', { skill: 'dig', message: 'Find the map.' })] };
const secret = 'hunter2-of-the-command';

/** The bot on Slack with the agent view, and Anna’s direct message with it. */
async function setUp(
  t: TestContext,
  script: WholeBotOptions['script'],
  toml = '',
  slack = 'agent_view = true\n',
) {
  const set = await startWholeBot(t, {
    channels: ['slack'],
    slack,
    toml: `[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n${toml}`,
    skills: { dig },
    ...(script === undefined ? {} : { script }),
  });
  const anna = set.slack.workspace.addUser('anna');
  const own = () =>
    [...set.slack.workspace.rooms.values()].flatMap(({ messages }) =>
      messages.filter(({ user, deleted }) => user === set.slack.workspace.bot.user && !deleted),
    );
  const plans = () => own().flatMap(({ plan }) => (plan === undefined ? [] : [plan]));
  const states = () => plans().map(({ tasks }) => tasks.map(({ title, status }) => `${title} ${status}`));
  /** Resolves once people see the plan in this state. */
  const untilPlan = (...tasks: readonly string[]) =>
    set.slack.changes.until(() => states().some((one) => one.join() === tasks.join()));
  return { ...set, anna, own, plans, states, untilPlan };
}

/** Runs one command in the skill, then goes on when `held` resolves. */
function digging(held: Promise<void>) {
  return (body: MessagesRequest): ServerStep => {
    if (!isRun(body)) return lastOf(body).includes('tool_result') ? 'The map is there.' : callDig;
    return lastOf(body).includes('tool_result')
      ? { content: [{ type: 'text', text: 'Found it.' }], wire: { hold: held } }
      : { content: [call('toolu_ls', 'bash', { command: `echo ${secret}` })] };
  };
}

test('U18 the steps of a turn and its runs are a plan in Slack’s agent view, which stays above the answer', async (t) => {
  const held = Promise.withResolvers<void>();
  const { slack, anna, own, plans, states, untilPlan } = await setUp(t, digging(held.promise));
  slack.people.dm(anna, 'where is the map?');
  await untilPlan('🧩 dig in_progress', 'dig: 💻 Commands complete');
  held.resolve();
  await slack.posted(({ text }) => text === 'The map is there.');
  assert.deepEqual(states(), [['🧩 dig complete', 'dig: 💻 Commands complete']]);
  assert.equal(plans()[0]?.title, 'Steps: 2');
  const [plan, answer, ...more] = own();
  assert.deepEqual(more, []);
  assert.equal(plan?.text, 'Steps: 2\n✓ 🧩 dig\n✓ dig: 💻 Commands');
  assert.equal(plan.streaming?.state, 'completed');
  assert.equal(answer?.text, 'The map is there.');
  const shown = slack.calls.all().filter(({ method }) => /^chat\./.test(method));
  assert.ok(!JSON.stringify(shown.map(({ args }) => args)).includes(secret));
});

test('U18 without the agent view, and in channels, steps are a line as before', async (t) => {
  const held = Promise.withResolvers<void>();
  const { slack, anna, plans } = await setUp(t, digging(held.promise), '', '');
  slack.people.dm(anna, 'where is the map?');
  await slack.changes.until(({ message }) => message.text.startsWith('_dig: '));
  held.resolve();
  await slack.posted(({ text }) => text === 'The map is there.');
  assert.deepEqual(plans(), []);
});

test('U18 U9 a run that continues in the background is no step that is done, nor have its own steps failed', async (t) => {
  const script =
    (held: Promise<void>) =>
    (body: MessagesRequest): ServerStep =>
      !isRun(body) && lastOf(body).includes('tool_result') ? 'It runs.' : digging(held)(body);
  const held = Promise.withResolvers<void>();
  const first = await setUp(t, script(held.promise), '[agent]\ndetach_after_seconds = 6\n');
  first.slack.people.dm(first.anna, 'where is the map?');
  await first.slack.posted(({ text }) => text === 'It runs.');
  assert.deepEqual(first.states(), [['🧩 dig, in the background pending', 'dig: 💻 Commands complete']]);
  assert.equal(first.own()[0]?.text, 'Steps: 2\n… 🧩 dig, in the background\n✓ dig: 💻 Commands');
  held.resolve();
  // A question that nobody answers: the turn waits for it for a while only.
  const asking = await setUp(t, script(held.promise), '[policy]\nmoderate = "confirm"\n');
  asking.slack.people.dm(asking.anna, 'where is the map?');
  await asking.slack.posted(({ text }) => text === 'It runs.');
  assert.deepEqual(asking.states(), [['🧩 dig, in the background pending', 'dig: 💻 Commands pending']]);
});

test('U18 U15 a stop leaves a plan in which nothing goes on', async (t) => {
  const { slack, anna, states, untilPlan } = await setUp(t, digging(new Promise(() => undefined)));
  const asked = slack.people.dm(anna, 'where is the map?');
  await untilPlan('🧩 dig in_progress', 'dig: 💻 Commands complete');
  await slack.people.stop(anna, asked);
  await slack.posted(({ text }) => text === 'Stopped.');
  assert.deepEqual(states(), [['🧩 dig error', 'dig: 💻 Commands complete']]);
});

test('U18 T8 while an approval is asked for, its step waits; a no and a mistake are steps that failed', async (t) => {
  const steps = [
    call('toolu_ls', 'bash', { command: 'ls' }),
    call('toolu_bad', 'bash', { command: 7 }),
    call('toolu_end', 'bash', { command: 'pwd' }),
  ];
  const held = Promise.withResolvers<void>();
  const { slack, anna, states, untilPlan } = await setUp(
    t,
    (body) => {
      if (!isRun(body)) return lastOf(body).includes('tool_result') ? 'It ends here.' : callDig;
      const results = JSON.stringify(body.messages).split('"tool_result"').length - 1;
      const next = steps[results];
      return next === undefined
        ? { content: [{ type: 'text', text: 'Nothing.' }], wire: { hold: held.promise } }
        : { content: [next] };
    },
    '[policy]\nmoderate = "confirm"\n',
  );
  const asked = slack.people.dm(anna, 'where is the map?');
  const question = await slack.posted(({ text }) => text.includes('wants to use'));
  await untilPlan('🧩 dig in_progress', 'dig: 💻 Commands pending');
  await slack.people.press(anna, question, 'Deny');
  const second = await slack.posted(({ text, ts }) => text.includes('wants to use') && ts !== question.ts);
  await slack.people.press(anna, second, 'Approve');
  const shown = ['dig: 💻 Commands error', 'dig: 💻 Commands error', 'dig: 💻 Commands complete'];
  await untilPlan('🧩 dig in_progress', ...shown);
  held.resolve();
  await slack.posted(({ text, threadTs }) => text === 'It ends here.' && threadTs === asked.ts);
  assert.deepEqual(states(), [['🧩 dig complete', ...shown]]);
});
