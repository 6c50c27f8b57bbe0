import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isRun, resultsIn, stepsOf } from '../support/call-steps.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { openDetails } from '../support/open-details.ts';
import { openCliHome } from '../support/run-cli.ts';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const report = '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n';
const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const approvers = 'approvers = ["telegram:4711", "telegram:4712"]\n';
const rule = '[[policy.rules]]\ntool = "write_file"\naction = "confirm"\n';
const fourEyes = `${open}[policy]\nmoderate = "confirm"\n${approvers}${rule}four_eyes = true\n`;
const asked = /needs a yes to use.*write_file/s;
const another = /^Another approver has to approve this, not the person who asked: telegram:4712\.$/;

const write = stepsOf([{ name: 'write_file', input: { path: 'a.txt', content: 'plan' } }], '');

/** A skill that writes a file, and a main agent that says what came of it. */
function script(body: MessagesRequest) {
  const [result] = resultsIn(body);
  if (!isRun(body)) return `It says: ${JSON.stringify(body.messages.at(-1)).replaceAll(/["\\\\]/g, ' ')}`;
  return result === undefined ? write(body) : result;
}

async function start(t: TestContext, toml: string) {
  const set = await startWholeBot(t, {
    toml,
    skills: { report },
    script,
  });
  const room = set.telegram.group({ title: 'Team' });
  const eve = set.telegram.person({ name: 'Eve', id: 4711 });
  const olga = set.telegram.person({ name: 'Olga', id: 4712 });
  return { ...set, room, eve, olga };
}

const codeOf = ({ text }: Readonly<{ text: string }>): string => /yes ([0-9A-Z]{8})/.exec(text)?.[1] ?? '';

test('T8 with four_eyes an approver can’t approve their own call by press, code, word or dashboard; another approver can', async (t) => {
  const { room, eve, olga, telegram, ...set } = await start(t, fourEyes);
  eve.says('/report', { in: room });
  const question = await room.nextMessage(asked);
  room.setBot('administrator');
  assert.match(question.text, /Another approver has to answer\.$/);
  const hers = await openDetails(eve, question, room);
  assert.match(hers.text, /Another approver has to approve this, .*: telegram:4712\./);
  assert.deepEqual(hers.buttons, ['Approve', 'Deny']);
  const pressed = eve.pressesAlone(hers.id, 'Approve', room);
  assert.match((await telegram.until('a word on the press', () => pressed.text())) ?? '', another);
  for (const words of [`yes ${codeOf(hers)}`, `always ${codeOf(hers)}`, 'yes']) {
    eve.says(`@test_bot ${words}`, { in: room });
    await room.nextShownTo(eve, another);
  }
  const herself = await enter((await openDashboard(t, set, { acts: { as: 'telegram:4711' } })).newLink());
  const page = (await herself.get('/approvals')).body;
  assert.match(page, /Another approver has to approve it/);
  assert.doesNotMatch(page, /value="approve"/);
  const id = codeOf(hers);
  assert.match((await herself.post('/approvals/answer', { id, answer: 'approve' })).body, /Another approver/);
  assert.match(room.sent().find((sent) => sent.id === question.id)?.text ?? '', asked);
  olga.pressesAlone((await openDetails(olga, question, room)).id, 'Approve', room);
  await room.nextMessage(/bytes were written/);
  const outcome = await telegram.until('the question says so', () =>
    room.sent().find((sent) => sent.id === question.id && /^Approved by Olga/.test(sent.text)),
  );
  assert.deepEqual(outcome.buttons, []);
});

test('T8 with four_eyes the person who asked may still take it back, and the dashboard counts another approver', async (t) => {
  const { room, eve, telegram, ...set } = await start(t, fourEyes);
  eve.says('/report', { in: room });
  const own = await openDetails(eve, await room.nextMessage(asked), room);
  eve.pressesAlone(own.id, 'Deny', room);
  await room.nextMessage(/the person said no/);
  eve.says('/report', { in: room });
  const second = await room.nextMessage(asked);
  const link = (await openDashboard(t, set, { acts: { as: 'telegram:4712' } })).newLink();
  const other = await enter(link);
  const done = await other.post('/approvals/answer', {
    id: codeOf(await openDetails(eve, second, room)),
    answer: 'approve',
  });
  assert.match(done.body, /Approved by/);
});

test('T8 four_eyes counts over an Always of before', async (t) => {
  const { room, eve, telegram, ...set } = await start(
    t,
    `${open}[policy]\nmoderate = "confirm"\n${approvers}`,
  );
  eve.says('/report', { in: room });
  const first = await room.nextMessage(asked);
  const hers = await openDetails(eve, first, room);
  assert.ok(hers.buttons.includes('Always'));
  eve.pressesAlone(hers.id, 'Always', room);
  await telegram.until('the question says so', () =>
    room.sent().find((sent) => sent.id === first.id && /^Approved from now on/.test(sent.text)),
  );
  await set.reconfigure(fourEyes);
  await set.restart();
  eve.says('/report', { in: room });
  const question = await room.nextMessage(asked);
  assert.match(question.text, /Another approver has to answer/);
});

test('T8 with four_eyes a call in a direct message is refused at once, and so is one without another approver', async (t) => {
  const { eve, room, ...set } = await start(t, fourEyes);
  eve.says('/report');
  await eve.dm.nextMessage(/nobody else reads this direct message/);
  assert.ok(!eve.dm.sent().some(({ text }) => asked.test(text)), 'nothing was asked');
  await set.reconfigure(fourEyes.replace(', "telegram:4712"', ''));
  await set.restart();
  eve.says('/report', { in: room });
  await room.nextMessage(/there is no other approver/);
});

test('T8 with four_eyes a terminal of one person refuses the call and says why', async (t) => {
  const home = await openCliHome(t);
  const tool = 'tool = "skills_run_script"\naction = "confirm"\nfour_eyes = true\n';
  await home.write('config.toml', `[policy]\napprovers = ["telegram:1"]\n[[policy.rules]]\n${tool}`);
  const { stdout } = await home.runAlone(['chat', '--once', '/dice d20']);
  assert.match(
    stdout,
    /another approver has to agree to this call, and nobody else reads this direct message/,
  );
  assert.ok(!existsSync(path.join(home.folder, 'workspace', 'a.txt')));
});

test('T8 G2 config check and doctor name a rule with four_eyes that nobody else could approve', async (t) => {
  const home = await openCliHome(t);
  const check = async (toml: string): Promise<string> => {
    await home.write('config.toml', toml);
    return (await home.run(['config', 'check'])).stdout;
  };
  const people = '[access]\nusers = ["telegram:1", "telegram:2"]\n';
  const ruled = (list: string, more = '') =>
    `${people}[policy]\napprovers = ${list}\n[[policy.rules]]\ntool = "deploy_*"\naction = "confirm"\nfour_eyes = true\n${more}`;
  const none =
    /config\.toml:4: warning FOUR_EYES_ALONE: .*tool "deploy_\*".*write another person into \[policy\] approvers/;
  assert.match(await check(ruled('[]')), none);
  assert.match(await check(ruled('["telegram:1"]', 'sender = "telegram:1"\n')), none);
  assert.match(
    await check(ruled('["telegram:1"]', 'sender = "group:a"\n[groups.a]\nmembers = ["telegram:1"]\n')),
    none,
  );
  for (const fine of [
    ruled('["telegram:1"]'),
    ruled('["telegram:1", "telegram:2"]', 'sender = "telegram:1"\n'),
    ruled('["telegram:1"]', 'sender = "telegram:2"\n'),
  ])
    assert.doesNotMatch(await check(fine), /FOUR_EYES_ALONE/);
  for (const action of ['allow', 'deny'])
    assert.match(
      await check(ruled('["telegram:1"]').replace('"confirm"', `"${action}"`)),
      /four_eyes.*write .*action = "confirm"/,
    );
});
