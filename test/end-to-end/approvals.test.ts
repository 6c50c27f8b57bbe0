import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openDetails } from '../support/open-details.ts';
import { callSteps, resultsIn } from '../support/call-steps.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { Person } from '../servers/telegram/person.ts';
import type { SentMessage } from '../servers/telegram/room.ts';
import type { TelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n';
const confirm = '[policy]\nmoderate = "confirm"\n';
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const use = (id: string, name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id, name, input }],
});

/** A model that has the dice rolled by their script, and says what came of it: a roll only where it was shown one. */
const roller: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = lastOf(body);
  if (isRun(body)) {
    const rolled = /1d6: ([1-6]) = \1/.exec(last)?.[1];
    if (rolled !== undefined) return `Rolled by the script: ${rolled}.`;
    if (/tool_result/.test(last))
      return `Not rolled: ${/error ([A-Z_]+: [^"\\]*)/.exec(last)?.[1] ?? last.replaceAll(/["\\]/g, ' ')}`;
    return use('toolu_roll', 'skills_run_script', { path: 'scripts/roll.sh', args: ['1d6'] });
  }
  if (/Not rolled/.test(last))
    return `It says: ${/Not rolled: (?:[A-Z_]+: )?([^"\\<]*)/.exec(last)?.[1] ?? ''}`;
  if (/Rolled by the script/.test(last)) return 'It was rolled.';
  if (/status.{0,5}running/.test(last)) return 'It waits for you.';
  if (/tool_result/.test(last)) return `It failed: ${last.replaceAll(/["\\]/g, ' ')}`;
  return use('toolu_use', 'use_skill', { skill: 'dice', message: 'Roll 1d6.' });
};
const asked = /wants to use.*skills_run_script/s;

/** What became of a question: its message is changed beside whatever the answer sets going. */
function answered(telegram: TelegramServer, { dm }: Person, { id }: SentMessage): Promise<SentMessage> {
  return telegram.until('the question says what became of it', () =>
    dm.sent().find((sent) => sent.id === id && !asked.test(sent.text)),
  );
}

function codeOf({ text }: SentMessage): string {
  return /yes ([0-9A-Z]{8})/.exec(text)?.[1] ?? '';
}

test('T8 U9 a call that needs a yes is asked for with buttons, and Approve has it made', async (t) => {
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml.replace('[bot]\n', '[bot]\ntimezone = "Asia/Tokyo"\n') + confirm,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  assert.match(question.text, /dice/);
  assert.match(question.text, /scripts\/roll\.sh/);
  assert.match(question.text, /1d6/);
  assert.deepEqual(question.buttons, ['Approve', 'Deny', 'Always']);
  ann.says('/tasks');
  const tasks = await ann.dm.nextMessage(/In the background here/);
  assert.match(tasks.text, /dice, for Ann, waiting for your yes since \d{1,2} \w+ \d{4}, \d\d:\d\d GMT\+9$/);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('It was rolled.');
  const now = await answered(telegram, ann, question);
  assert.match(now.text, /^Approved by Ann: skills_run_script of dice\.[^]*scripts\/roll\.sh[^]*1d6/);
  assert.deepEqual(now.buttons, []);
});

test('H11 T8 a plain yes approves the only call that is asked about', async (t) => {
  const { telegram } = await startWholeBot(t, { sandbox: 'auto', toml: toml + confirm, script: roller });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  await ann.dm.nextMessage(asked);
  // What comes after it has come: the bot knows that its question was shown.
  ann.says('/whoami');
  await ann.dm.nextMessage(/^You: /);
  ann.says('Yes.');
  await ann.dm.nextMessage('It was rolled.');
});

test('T8 Deny is TOOL_POLICY_DENIED; a later press changes nothing', async (t) => {
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  ann.presses(question.id, 'Deny');
  await ann.dm.nextMessage(/It says: the person said no/);
  ann.says(`yes ${codeOf(question)}`);
  await ann.dm.nextMessage(/^Denied by Ann: skills_run_script of dice\.$/);
});

test('T8 what is too long for one message is attached whole as a file, escaped; the message says how it begins', async (t) => {
  const content = `first line \u202e\n${'x'.repeat(9_000)}\nlast line`;
  const set = await startWholeBot(t, {
    toml: toml + confirm,
    skills: { report: '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n' },
    script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content } }]),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/report');
  const { file } = await ann.dm.nextFile('what-is-asked.txt');
  const whole = file.bytes.toString();
  assert.match(whole, /`path`\n\n```\na\.txt\n```/);
  assert.ok(whole.includes(`first line \\u{202e}\n${'x'.repeat(9_000)}\nlast line`));
  const question = await ann.dm.nextMessage(/wants to use.*write_file/s);
  assert.match(question.text, /a\.txt.*content: 9023 characters, whole in what-is-asked\.txt.*first line/s);
  assert.deepEqual(question.buttons, ['Approve', 'Deny', 'Always']);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('All done.');
  await set.telegram.until('the question says so', () =>
    ann.dm.sent().find(({ id, text }) => id === question.id && text.startsWith('Approved by')),
  );
});

test('T8 only the requester or an approver may answer, in a group too; anybody else changes nothing', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}[policy]\nmoderate = "confirm"\napprovers = ["telegram:4711"]\n`,
    script: roller,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  const eve = set.telegram.person({ name: 'Eve', id: 4711 });
  const room = set.telegram.group({ title: 'Team' });
  ann.says('@test_bot roll', { in: room });
  room.setBot('administrator');
  const question = await room.nextMessage(/needs a yes to use skills_run_script/);
  const pressed = bob.presses(question.id, 'Details', room);
  const told = await set.telegram.until('a word on the press', () => pressed.text());
  assert.match(told ?? '', /^Only the person who asked for this or an approver/);
  const shown = await openDetails(eve, question, room);
  assert.match(shown.text, asked);
  bob.says(`@test_bot yes ${codeOf(shown)}`, { in: room });
  await room.nextShownTo(bob, /Only the person who asked for this or an approver/);
  assert.match(room.sent().find(({ id }) => id === question.id)?.text ?? '', /needs a yes/);
  eve.pressesAlone(shown.id, 'Approve', room);
  await room.nextMessage('It was rolled.');
});

test('T8 U5 time in which a person is waited for does not count against the limit of a run', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: toml + confirm,
    skills: {
      report: '---\nname: report\ndescription: Makes reports.\ntimeout_seconds: 1\n---\nMake one.\n',
    },
    script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: 'x' } }]),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/report');
  const question = await ann.dm.nextMessage(/wants to use.*write_file/s);
  const since = Date.now();
  await telegram.until('more time has passed than the run has', () => Date.now() - since > 1_200);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('All done.');
  const [written] = messages.requests.flatMap(({ body }) => (isRun(body) ? resultsIn(body) : []));
  assert.match(written ?? '', /were written/);
});

test('T8 `yes CODE` as text works where buttons do not', async (t) => {
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  ann.says(`yes ${codeOf(await ann.dm.nextMessage(asked))}`);
  await ann.dm.nextMessage('It was rolled.');
});

test('T8 Q5 what is asked survives a restart: asked once, answered after it', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  await set.restart();
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('It was rolled.');
  await answered(set.telegram, ann, question);
  assert.equal(ann.dm.sent().filter(({ text }) => asked.test(text)).length, 0);
  assert.equal(ann.dm.sent().filter(({ text }) => /^Approved by/.test(text)).length, 1);
});

test('T8 Q4 /stop ends what is asked, and a late answer hears so', async (t) => {
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  ann.says('/stop');
  const late = ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage(/^Stopp/);
  assert.match(
    (await telegram.until('a word on the press', () => late.text())) ?? '',
    /^Stopped: skills_run/,
  );
  await telegram.until('the question says so', () =>
    ann.dm.sent().find(({ id, text }) => id === question.id && text.startsWith('Stopped:')),
  );
  ann.says(`yes ${codeOf(question)}`);
  await ann.dm.nextMessage(/^Stopped:/);
});

test('T8 policy judges again after the press: what was forbidden meanwhile is not done', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  await set.reconfigure(`${toml}[policy]\nmoderate = "deny"\n`);
  await set.log.line(({ message }) => message === 'the config was changed');
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage(/It says: /);
});

test('T8 a rule that denies stands before the level and before other rules', async (t) => {
  const rules =
    '[[policy.rules]]\ntool = "skills_*"\naction = "allow"\n[[policy.rules]]\nskill = "dice"\ntool = "skills_run_script"\naction = "deny"\n';
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + rules,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  await ann.dm.nextMessage(/It says: /);
});

test('T8 Always stands for this tool, skill and files, person and chat, over a restart, until it is revoked', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  ann.presses(question.id, 'Always');
  await ann.dm.nextMessage('It was rolled.');
  assert.match(
    (await answered(set.telegram, ann, question)).text,
    /^Approved from now on, for any input, by Ann:/,
  );
  const again = await set.restart();
  ann.says('roll');
  await ann.dm.nextMessage('It was rolled.');
  bob.says('roll');
  bob.presses((await bob.dm.nextMessage(asked)).id, 'Deny');
  await bob.dm.nextMessage(/It says/);
  const rules = await again.bot.operate('policy list');
  assert.deepEqual(
    rules.map(({ tool }) => tool),
    ['skills_run_script'],
  );
  await again.bot.operate('policy revoke', rules[0]?.id ?? '');
  await assert.rejects(
    again.bot.operate('policy revoke', rules[0]?.id ?? ''),
    /there is no rule .*policy list/,
  );
  ann.says('roll');
  await ann.dm.nextMessage(asked);
});

test('T8 Always is not offered, and `always CODE` not taken, where a rule of the operator asks each time or a call is critical', async (t) => {
  const rule = '[[policy.rules]]\ntool = "skills_run_script"\naction = "confirm"\n';
  const { telegram } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}${rule}`,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(asked);
  assert.deepEqual(question.buttons, ['Approve', 'Deny']);
  ann.says(`always ${codeOf(question)}`);
  await ann.dm.nextMessage(/ask for this each time/);
  ann.says(`yes ${codeOf(question)}`);
  await ann.dm.nextMessage('It was rolled.');
});

test('T8 a change of the skill’s files ends what Always allowed', async (t) => {
  const script = '---\nname: dice\ndescription: Rolls.\n---\nRoll.\n';
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
    skills: { dice: script },
  });
  const folder = path.join(set.home, 'workspace', 'skills', 'dice', 'scripts');
  await mkdir(folder);
  await writeFile(path.join(folder, 'roll.sh'), 'echo "1d6: 1 = 1"\n');
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('roll');
  ann.says(`always ${codeOf(await ann.dm.nextMessage(asked))}`);
  await ann.dm.nextMessage('It was rolled.');
  ann.says('roll');
  await ann.dm.nextMessage('It was rolled.');
  await writeFile(path.join(folder, 'roll.sh'), 'echo "1d6: 6 = 6"\n');
  ann.says('roll');
  await ann.dm.nextMessage(asked);
});

test('T8 H3 a press that Telegram will not have acknowledged counts all the same: the message is edited, the call made', async (t) => {
  const { telegram, log } = await startWholeBot(t, {
    sandbox: 'auto',
    flood: false,
    toml: toml + confirm,
    script: roller,
  });
  const ann = telegram.person({ name: 'Ann' });
  const method = 'answerCallbackQuery';
  const description = 'Bad Request: query is too old and response timeout expired or query ID is invalid';
  for (const fault of [
    { status: { code: 400, description } },
    { cut: 'before' as const },
    { retryAfter: 30 },
  ]) {
    telegram.faults.add({ method, ...fault });
    ann.says('roll');
    const question = await ann.dm.nextMessage(asked);
    ann.presses(question.id, 'Approve');
    await ann.dm.nextMessage('It was rolled.');
    const now = await answered(telegram, ann, question);
    assert.match(now.text, /^Approved by Ann:/);
    assert.deepEqual(now.buttons, []);
  }
  await telegram.until('three acknowledgements', () => telegram.calls(method).length === 3);
  await log.line(({ message }) => message === 'a button press could not be answered');
});

test('T8 H4 a press whose acknowledgement never reaches Slack counts all the same: the message is edited, the call made', async (t) => {
  const { slack, log } = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml + confirm,
    script: roller,
    channels: ['slack'],
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'roll');
  const question = await slack.posted(({ text }) => text.includes('needs a yes to use'));
  await slack.people.press(anna, question, 'Details');
  const shown = await slack.shown.until(({ text }) => asked.test(String(text)));
  // The line is gone between the press and the word that it arrived.
  const answered = log.line(({ message }) => message === 'an approval was answered');
  const lost = answered.then(() => slack.socket.cut('all'));
  const press = slack.people.pressAlone(anna, shown, 'Approve');
  await lost;
  const edited = await slack.changes.until(
    ({ kind, message }) =>
      kind === 'updated' &&
      message.ts === question.ts &&
      /^Approved by `anna`: `skills_run_script`/.test(message.text),
  );
  assert.doesNotMatch(JSON.stringify(edited.message), /"Details"|roll\.sh/);
  await slack.changes.until(({ message }) => /It was rolled/.test(message.text));
  assert.equal((await press).ok, false, 'it was acknowledged after all');
});
