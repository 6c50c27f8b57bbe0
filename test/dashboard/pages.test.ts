import assert from 'node:assert/strict';
import { get as request, type IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { decideMessage } from '../../src/access/decide-message.ts';
import { systemZone } from '../../src/core/local-time.ts';
import { callSteps } from '../support/call-steps.ts';
import { obedient } from '../support/obedient-model.ts';
import { until } from '../support/until.ts';
import { enter, everyPage, openDashboard, type Visitor } from '../support/visit-dashboard.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const confirm = '[policy]\nmoderate = "confirm"\napprovers = ["telegram:7"]\n';
const report = '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n';
const hostile = `<img src=x onerror=alert(1)>"'&\u202e`;

/** The newest content of a live page. */
function watch(t: TestContext, { origin, cookie }: Visitor, page: string): () => string {
  let text = '';
  const asked = request(
    `${origin}/live?page=${encodeURIComponent(page)}`,
    { headers: { cookie } },
    (response: IncomingMessage) => response.setEncoding('utf8').on('data', (part: string) => (text += part)),
  );
  t.after(() => void asked.destroy());
  asked.on('error', () => undefined);
  return () => {
    const last = text.split('\n\n').findLast((event) => event.startsWith('data: '));
    return last === undefined ? '' : (JSON.parse(last.slice('data: '.length)) as string);
  };
}

/** Texts of a page as a reader sees them, one space between words. */
function wordsOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replace(/\s+/g, ' ');
}

async function startReporting(t: TestContext, more: WholeBotOptions = {}) {
  const set = await startWholeBot(t, {
    toml: open + confirm,
    skills: { report },
    script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: `secret plan ${hostile}` } }]),
    ...more,
  });
  return { ...set, ann: set.telegram.person({ name: hostile }), group: set.telegram.group() };
}

test('S8 T8 what waits for a yes shows live, counts only from an approver, and the call is then made', async (t) => {
  const { ann, group, ...set } = await startReporting(t);
  const visitor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  const stranger = await enter((await openDashboard(t, set, { acts: { as: 'telegram:666' } })).newLink());
  const approvals = watch(t, visitor, '/approvals');
  const now = watch(t, visitor, '/now');
  await until(() => approvals().includes('Nothing waits for a yes.'));
  ann.says('/report', { in: group });
  const question = await group.nextMessage(/needs a yes to use/);
  await until(() => approvals().includes('write_file'));
  await until(() => /waiting for a yes/.test(now()));
  assert.match(
    wordsOf(approvals()),
    /report wants to use write_file For <img src=x in .*?\. Asked (?:just now|\d+ min ago) , expires in \d+ min \./,
  );
  assert.match(wordsOf(approvals()), /secret plan <img src=x onerror=alert\(1\)>"'&/);
  assert.match(wordsOf(now()), /skill report .*waiting for a yes .*write_file running/);
  const [, id = ''] = /name="id"\s+value="([0-9A-Z]{8})"/.exec(approvals()) ?? [];
  const refused = await stranger.post('/approvals/answer', { id, answer: 'approve' });
  assert.match(refused.body, /Only the person who asked for this or an approver can answer/);
  const done = await visitor.post('/approvals/answer', { id, answer: 'approve' });
  assert.match(wordsOf(done.body), /Approved by telegram:7: write_file of report\./);
  const changed = await set.telegram.until('the chat says so, too', () =>
    group.sent().find((sent) => sent.id === question.id && /^Approved by/.test(sent.text)),
  );
  assert.match(changed.text, /telegram:7/);
  await until(() => approvals().includes('Nothing waits for a yes.'));
  await until(() => /Tool call/.test(wordsOf(now())));
  const audit = wordsOf((await visitor.get('/audit?event=tool_call&skill=report')).body);
  assert.match(audit, /Tool call write_file report <img src=x .* approved by telegram:7 /);
  assert.match(wordsOf((await visitor.get('/audit?words=no-such-word')).body), /No line matches/);
  const late = await visitor.post('/approvals/answer', { id, answer: 'deny' });
  assert.match(wordsOf(late.body), /Approved by/);
});

test('S8 S11 a removed approver answers nothing here', async (t) => {
  const { ann, ...set } = await startReporting(t);
  await set.reconfigure(`[access]\nusers = ["telegram:${ann.id}"]\ndm = "allowlist"\n${confirm}`);
  await set.log.line(({ message }) => message === 'the config was changed');
  const visitor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  ann.says('/report');
  await ann.dm.nextMessage(/wants to use/);
  const page = await visitor.get('/approvals');
  const [, id = ''] = /name="id"\s+value="([0-9A-Z]{8})"/.exec(page.body) ?? [];
  const refused = await visitor.post('/approvals/answer', { id, answer: 'approve' });
  assert.match(wordsOf(refused.body), /telegram:7 is not in \[access\] users/);
  assert.match(wordsOf(refused.body), /report wants to use write_file/);
});

test('S8 S1 names and texts of strangers are text on every page', async (t) => {
  const { ann, group, ...set } = await startReporting(t, {
    toml: `${open}${confirm}[access.telegram]\ngroups = ["-1001"]\n`,
  });
  await set.bot.users.pair({ sender: 'telegram:5<i>', name: hostile, since: 1 });
  const visitor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  ann.says(`/report ${hostile}`, { in: group });
  await group.nextMessage(/needs a yes to use/);
  const asked = encodeURIComponent(hostile);
  for (const where of [
    ...everyPage,
    `/access?person=${asked}&chat=${asked}&type=${asked}&from=${asked}`,
    `/playground?person=${asked}&chat=${asked}&kind=${asked}`,
    `/audit?words=${asked}&person=${asked}&since=${asked}`,
    `/costs?period=${asked}`,
    `/person?id=${asked}`,
    `/conversation?id=${asked}&most=${asked}`,
    `/skill?name=${asked}`,
    `/conversations?words=${asked}&page=${asked}`,
  ]) {
    const { status, body } = await visitor.get(where);
    assert.equal(status, 200, where);
    assert.doesNotMatch(body, /<img|<i>|<b>|\u202e/, where);
  }
  const { body } = await visitor.get('/people');
  assert.match(body, /title="telegram:5&#60;i&#62;"\s*>&#60;img src=x onerror=alert\(1\)&#62;/);
});

test('S8 A8 A9 the matrix and the playground say what the gates decide, and why', async (t) => {
  const toml = `[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:2"]
groups = ["telegram:-100"]
[skills.report]
allow_users = ["telegram:2"]
[skills.diary]
sensitive = true
`;
  const diary = report.replace('report', 'diary');
  const set = await startWholeBot(t, { toml, skills: { report, diary } });
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const direct = (await get('/access')).body;
  const plain = (cell: string): string =>
    wordsOf(cell)
      .trim()
      .replace(/\(\S*config\.toml/, '(config.toml');
  const rowOf = (body: string, name: string): readonly string[] => {
    const [row = ''] =
      body.match(/<tr role="row">[^]*?<\/tr>/g)?.filter((one) => wordsOf(one).trim().startsWith(name)) ?? [];
    return (row.match(/<td[^]*?<\/td>/g) ?? []).map(plain);
  };
  assert.deepEqual(rowOf(direct, 'may talk'), ['yes', 'yes']);
  assert.deepEqual(rowOf(direct, 'report'), [
    'no The skill is not for this person or chat: telegram:1 is not in allow_users of report Rule: skills.report.allow_users (config.toml:12) To change that: add "telegram:1" there',
    'yes',
  ]);
  assert.deepEqual(rowOf(direct, 'diary'), ['yes', 'yes']);
  const group = (await get('/access?chat=telegram%3A-100')).body;
  for (const cell of rowOf(group, 'diary'))
    assert.match(
      cell,
      /^no The skill is not for this person or chat: diary is for private chats; this one is group Rule: skills\.diary\.sensitive /,
    );
  assert.equal(rowOf(group, 'diary').length, 2);
  const places = (await get('/access?person=telegram%3A666')).body;
  assert.match(
    rowOf(places, 'may talk')[0] ?? '',
    /^no Does not know this person: telegram:666 is not in \[access\] users and not paired/,
  );
  assert.equal(rowOf(places, 'may talk').length, 2);
  const play = async (of: string) => wordsOf((await get(`/playground?${of}`)).body);
  const ann = await play('person=telegram%3A2&addressed=yes');
  assert.match(ann, /The bot answers this message, because /);
  assert.match(ann, /## Skills .*- report: Makes reports\./);
  assert.doesNotMatch(await play('person=telegram%3A1&addressed=yes'), /- report: Makes reports/);
  assert.match(
    await play('person=telegram%3A2&chat=telegram%3A-100'),
    /The message was not for the bot: the bot was not addressed.*None, because nothing is answered.*The model sees no skill here/,
  );
  const outsider = {
    sender: { id: 'telegram:2', kind: 'bot' },
    chatType: 'private',
    addressed: true,
  } as const;
  const gate = decideMessage(
    {
      ...outsider,
      sender: { id: 'telegram:3', kind: 'bot' },
      conversation: { channel: 'telegram', chat: '3' },
    },
    { owners: [], general: {}, channels: new Map(), chats: new Map(), allowExternal: false },
    { paired: false, groupAllowed: false, formerChatIds: [] },
  );
  assert.ok(!gate.allowed);
  assert.ok((await play('person=telegram%3A3&kind=bot&addressed=yes')).includes(`Is a bot: ${gate.reason}`));
  const { body: preset } = await get('/playground');
  const [, stranger = ''] =
    /href="\/playground\?([^"]*)"[^>]*>a stranger in a direct message</.exec(preset) ?? [];
  assert.match(await play(stranger.replaceAll('&#38;', '&')), /Does not know this person/);
});

test('A13 S8 the page of access shows who is in a named group, people of a Slack user group included', async (t) => {
  const toml = `[groups.finance]
members = ["telegram:42", "slack:usergroup:SFIN"]
[access]
dm = "allowlist"
users = ["group:finance", "slack:usergroup:SGONE"]
`;
  const set = await startWholeBot(t, { toml: open, channels: ['slack'] });
  const anna = set.slack.workspace.addUser('anna');
  set.slack.workspace.userGroups.set('SFIN', new Set([anna.id]));
  await set.bot.users.pair({ sender: `slack:${anna.id}`, name: 'Anna Lee', since: 1 });
  await set.reconfigure(toml);
  await set.log.line(({ message }) => message === 'the config was changed');
  // The next event asks Slack.
  await set.slack.people.dm(anna, 'hello').delivered;
  await set.log.line(({ message }) => message.includes('user group could not be read'));
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const [, groups = ''] = wordsOf((await get('/access')).body).split('Groups of people');
  assert.ok(groups.includes('group:finance telegram:42 slack:usergroup:SFIN : Anna Lee '));
  assert.ok(
    groups.includes('slack:usergroup:SGONE slack:usergroup:SGONE : not known now, so it admits nobody'),
  );
  await set.reconfigure(open);
  await until(async () => !(await get('/access')).body.includes('Groups of people'));
});

test('S8 Q3 a dead letter is shown; it is answered after a retry, which needs --act', async (t) => {
  let away = true;
  const set = await startWholeBot(t, {
    toml: open,
    mostTries: 1,
    script: () => (away ? { status: 529, headers: { 'retry-after': '0' } } : 'The answer after all.'),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const key = `telegram:${ann.id}:${ann.says('a question')}`;
  assert.match((await ann.dm.nextMessage()).text, /model/);
  const reader = await enter((await openDashboard(t, set)).newLink());
  const shown = await reader.get('/letters');
  assert.match(wordsOf(shown.body), /Ann direct message with Ann \(direct\) 10 characters/);
  assert.doesNotMatch(shown.body, /Try again|<form/);
  assert.equal((await reader.post('/inbox/retry', { key })).status, 403);
  away = false;
  const actor = await enter((await openDashboard(t, set, { acts: {} })).newLink());
  const unknown = await actor.post('/inbox/retry', { key: `${key}0` });
  assert.match(wordsOf(unknown.body), /there is no dead letter/);
  const done = await actor.post('/inbox/retry', { key });
  assert.match(wordsOf(done.body), /is answered again\./);
  assert.equal((await ann.dm.nextMessage()).text, 'The answer after all.');
  assert.match(wordsOf((await reader.get('/letters')).body), /No dead letters\./);
});

test('S8 S13 a standing approval says whose words it was given for, if they are not the person’s own', async (t) => {
  const set = await startWholeBot(t, { toml: `${open}[policy]\nsafe = "confirm"\n`, script: obedient });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  const mallory = { id: 1666, is_bot: false, first_name: 'Mallory' };
  for (const [who, more] of [[ann, { forwardedFrom: mallory }], [bob]] as const) {
    who.says('/whoami');
    await who.dm.nextMessage(/You: /);
    who.says('DO recall {"query": "tea"}', more);
    who.presses((await who.dm.nextMessage(/I want to use recall/)).id, 'Always');
    await who.dm.nextMessage(/Nothing was found/);
  }
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const shown = wordsOf((await get('/approvals')).body);
  assert.match(shown, /Tool Chat Person Allowed by From recall/);
  assert.match(shown, /recall direct message with Ann Ann Ann (?:just now|\d+ min ago) a message of Mallory/);
  assert.match(shown, /recall direct message with Bob Bob Bob (?:just now|\d+ min ago) (?!a message)/);
});

test('S8 U12 costs are charts and tables of the same sums', async (t) => {
  const set = await startWholeBot(t, { toml: open, script: () => 'An answer.' });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('a question');
  await ann.dm.nextMessage('An answer.');
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const [row] = await set.bot.operate('stats', '2000-01-01');
  assert.ok(row !== undefined);
  const { input, output, cacheRead, cacheWrite } = row.tokens;
  const tokens = (input + output + cacheRead + cacheWrite).toLocaleString('en');
  const body = (await get('/costs?period=7')).body;
  assert.match(body, new RegExp(`aria-label="Dollars by day: [^"]*${row.day} \\$[\\d.]+, ${tokens} tokens`));
  assert.match(wordsOf(body), new RegExp(`\\$0\\.\\d+ for 1 model requests and ${tokens} tokens`));
  assert.match(wordsOf(body), new RegExp(`Ann ${tokens} 1 \\$0\\.`));
  assert.ok(wordsOf(body).includes(`Days are those of ${systemZone()}.`));
});

test('S8 U10 the page of costs tells the runs of each skill, their steps, how many failed, and the last', async (t) => {
  const { ann, ...set } = await startReporting(t, { toml: open });
  ann.says('/report everything');
  await ann.dm.nextMessage();
  await set.bot.idle();
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const shown = wordsOf((await get('/costs')).body);
  assert.match(shown, /Skills Share Tokens Requests Dollars Runs Steps Failed Last run/);
  assert.match(shown, / report [\d,]+ 2 \$[\d.]+ 1 2 0 (?:just now|\d+ min ago) /);
});

test('S8 S2 S12 a secret is on no page, whoever wrote it', async (t) => {
  const secret = 'hush-hush-0123456789';
  const { ann, group, ...set } = await startReporting(t, {
    toml: `${open}${confirm}[skills.report]\nKEY = "${secret}"\n`,
  });
  const visitor = await enter((await openDashboard(t, set, { acts: {} })).newLink());
  ann.says(`/report ${secret}`, { in: group });
  await group.nextMessage(/needs a yes to use/);
  for (const where of [
    ...everyPage,
    `/playground?person=${secret}`,
    `/person?id=${secret}`,
    `/conversation?id=${secret}`,
    `/skill?name=${secret}`,
    `/access?person=${secret}`,
    `/audit?words=${secret}`,
  ]) {
    const { body } = await visitor.get(where);
    assert.ok(!body.includes(secret), where);
    assert.ok(!body.includes(set.telegram.token), where);
  }
});
