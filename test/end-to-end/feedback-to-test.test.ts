import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Script } from '../servers/messages/messages-server.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const skillText = (words: string): string =>
  `---\nname: tides\ndescription: Says when the tide is high.\n---\nSay always: ${words}.\n`;

const patience = { interval: 20, timeout: 60_000 };

/** A model that asks the skill about tides, and passes on what the skill’s text says. */
const model: Script = (body) => {
  const last = JSON.stringify(body.messages.at(-1));
  const system = JSON.stringify(body.system);
  const said = /at noon|at 14:30/i;
  if (system.includes('You carry out the skill')) return said.exec(system)?.[0] ?? 'never';
  const result = said.exec(last)?.[0];
  if (result !== undefined) return `The tide is high ${result}.`;
  if (!/tide/.test(last)) return 'Hello.';
  const input = { skill: 'tides', message: 'When?' };
  return { content: [{ type: 'tool_use', id: 'toolu_1', name: 'use_skill', input }] };
};

/** Command lines for the config of a running bot. */
async function commandsOf(t: TestContext, { home }: WholeBot) {
  const { run } = await openCliHome(t);
  const config = ['--config', path.join(home, 'config.toml')];
  const folder = path.join(home, 'workspace/skills/tides');
  return {
    folder,
    run: (...args: readonly string[]) => run([...args, ...config]),
    runOn: (input: string, ...args: readonly string[]) => run([...args, ...config], { input }),
  };
}

/** From a thumb down with its reason to a red test, a better skill, a green test and two counts. */
async function wholeWay(
  t: TestContext,
  set: WholeBot,
  { reason, again }: Readonly<{ reason: string; again(): Promise<void> }>,
): Promise<void> {
  const { run, runOn, folder } = await commandsOf(t, set);
  const listed = await run('feedback', 'list', '--down', '--json');
  assert.equal(listed.code, 0, listed.stderr);
  const [row] = JSON.parse(listed.stdout) as { id: string; reason: string; skills: { version: string }[] }[];
  assert.ok(row);
  assert.equal(row.reason, reason);
  const before = row.skills[0]?.version.slice(0, 8) ?? '';
  const args = ['feedback', 'to-test', row.id, '--contains', '14:30'];
  const shown = await runOn('', ...args);
  assert.match(shown.stdout, /message = ".*high/s, 'it is shown first');
  assert.match(shown.stderr + shown.stdout, /add --yes/);
  assert.ok(!readdirSync(folder).includes('tests'), 'and nothing is written without a yes');
  const written = await run(...args, '--yes');
  assert.equal(written.code, 0, written.stderr);
  const text = readFileSync(path.join(folder, 'tests', `feedback-${row.id}.toml`), 'utf8');
  assert.match(
    text,
    new RegExp(`^# From feedback ${row.id}, a thumb down for version ${before}\\.\n# What was wrong: `),
  );
  assert.ok(
    text.includes(`# What was wrong: ${reason.replace('ann@example.org', 'person@example.com')}`),
    text,
  );
  const red = await run('skill', 'test', 'tides');
  assert.equal(red.code, 1, red.stdout);
  assert.match(red.stdout, /FAIL.*feedback/);
  assert.match(red.stdout, /the answer lacks "14:30"/);
  await set.skill('tides', skillText('at 14:30'));
  await t.waitFor(async () => {
    const { text: now = '' } = await set.bot.operate('skill text', 'tides');
    assert.match(now, /14:30/, 'not read yet');
  }, patience);
  const green = await run('skill', 'test', 'tides');
  assert.equal(green.code, 0, green.stdout);
  await again();
  const { stdout: stats } = await run('stats');
  const counts = stats.split('\n').filter((line) => line.startsWith('tides') && /[0-9a-f]{8}/.test(line));
  assert.equal(counts.length, 2, stats);
  const { thumbs } = JSON.parse((await run('stats', '--json')).stdout) as { thumbs: { skill: string }[] };
  assert.deepEqual(
    thumbs.map(({ skill }) => skill),
    ['tides', 'tides'],
  );
  assert.match(counts[0] ?? '', new RegExp(`${before} +0 +1 `));
  assert.match(counts[1] ?? '', /[0-9a-f]{8} +1 +0 /);
  const audit = await run('audit', 'tail', '--kind', 'feedback_tested', '--json');
  assert.match(audit.stdout, new RegExp(`"feedback":"${row.id}"`));
}

test('U17 on Telegram the whole way: a 👎 in a group becomes a red test, the better skill a green one', async (t) => {
  const skills = { tides: skillText('at noon') };
  const set = await startWholeBot(t, { script: model, skills, flood: false, toml: open });
  const { telegram, bot } = set;
  const ann = telegram.person({ name: 'Ann' });
  const group = telegram.group();
  group.setBot('administrator');
  const ask = async () => {
    ann.says('@test_bot when is the tide high? I am ann@example.org', { in: group });
    const answer = await group.nextMessage('The tide is high');
    await bot.idle();
    return answer;
  };
  const react = async (id: number, emoji: string) => {
    ann.reacts(id, [emoji], group);
    await telegram.until('the reaction', () => telegram.queue.waiting().length === 0);
    await bot.idle();
  };
  await react((await ask()).id, '👎');
  const asked = await group.nextShownTo(ann, 'What was wrong?');
  const reason = 'It was at 14:30, ask ann@example.org.';
  ann.whispers(reason, { in: group, replyTo: asked.id });
  await group.nextShownTo(ann, 'Thank you');
  await wholeWay(t, set, { reason, again: async () => react((await ask()).id, '👍') });
});

test('U17 on Slack the whole way: a 👎 in a channel becomes a red test, the better skill a green one', async (t) => {
  const skills = { tides: skillText('at noon') };
  const set = await startWholeBot(t, { channels: ['slack'], script: model, skills, toml: open });
  const { slack, bot } = set;
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const ask = async (words: string) => {
    await slack.people.mention(anna, room, 'when is the tide high?').delivered;
    await slack.posted(({ text }) => text === `The tide is high ${words}.`);
    await bot.idle();
    const all = room.messages.filter(
      ({ text, deleted }) => text === `The tide is high ${words}.` && !deleted,
    );
    return all.at(-1) ?? assert.fail();
  };
  await slack.people.react(anna, await ask('at noon'), '-1');
  const asked = await slack.shown.until(
    ({ kind, text }) => kind === 'ephemeral' && /wrong/.test(String(text)),
  );
  await slack.people.pressAlone(anna, asked, 'Say it');
  const reason = 'It was at 14:30.';
  await slack.people.submit(anna, await slack.views.until(() => true), { 'What was wrong?': reason });
  const again = async () => void (await slack.people.react(anna, await ask('at 14:30'), '+1'));
  await wholeWay(t, set, { reason, again });
});

test('U17 what is no skill of the operator, no thumb down, or not said, becomes no test, with what to do', async (t) => {
  const skills = { tides: skillText('at noon') };
  const set = await startWholeBot(t, { script: model, skills, flood: false, toml: open });
  const { telegram, bot } = set;
  const { run } = await commandsOf(t, set);
  const [ann, bob] = ['Ann', 'Bob'].map((name) => telegram.person({ name }));
  assert.ok(ann && bob);
  const group = telegram.group();
  group.setBot('administrator');
  const known = new Set<string>();
  const idOf = async (person: typeof ann, words: string, emoji: string): Promise<string> => {
    ann.says(`@test_bot ${words}`, { in: group });
    const { id } = await group.nextMessage(/The tide is high|Hello/);
    await bot.idle();
    person.reacts(id, [emoji], group);
    await telegram.until('the reaction', () => telegram.queue.waiting().length === 0);
    await bot.idle();
    const all = await bot.operate('feedback list', {});
    const given = all.find((one) => !known.has(one.id)) ?? assert.fail();
    known.add(given.id);
    return given.id;
  };
  const said = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run('feedback', 'to-test', ...args, '--yes');
    assert.notEqual(code, 0, stdout);
    return stderr;
  };
  const down = await idOf(ann, 'when is the tide high?', '👎');
  assert.match(
    await said(down, '--skill', 'dice'),
    /dice is not yours: it comes with Skillet\. Copy its folder/,
  );
  assert.match(await said(down, '--skill', 'tied'), /no skill tied|there is no skill/i);
  assert.match(await said('000000000000'), /there is no feedback 000000000000: see `.*feedback list`/);
  const noSkill = await idOf(ann, 'good morning', '👎');
  assert.match(await said(noSkill), /no skill was used.*--skill NAME/);
  const up = await idOf(ann, 'when is the tide high again?', '👍');
  assert.match(await said(up), /is a thumb up: only a thumb down can become a test/);
  const others = await idOf(bob, 'when is the tide high now?', '👎');
  assert.match(await said(others), /somebody else had asked.*--message TEXT/);
});
