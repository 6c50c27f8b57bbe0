import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { isRun, resultsIn, stepsOf } from '../support/call-steps.ts';
import { machineConfig, startMachine } from '../support/machine.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { pngOf } from '../support/sent-files.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const server = await startPostgres();
after(() => server?.close());
const skip = server === undefined ? noPostgres : false;

const csv = 'name,amount\nAnn,3\n';
const picture = pngOf('cat');
const sees = (body: MessagesRequest): boolean =>
  JSON.stringify(body.messages).includes(picture.toString('base64'));

/** Keeps what it was sent in one run, and sends it back in another one. Else the model says whether it sees the picture, and after which words. */
function script(body: MessagesRequest) {
  const [said = ''] =
    JSON.stringify(body.messages)
      .match(/(?:what is|keep|and now|send) it/g)
      ?.slice(-1) ?? [];
  if (!isRun(body)) return `${sees(body) ? 'I see' : 'I miss'} it: ${said}`;
  const keeps = JSON.stringify(body.messages).includes(String.raw`<message>\nkeep`);
  const command = 'cp /chat/a.csv /chat/kept.csv && cat /chat/kept.csv';
  const call = keeps
    ? { name: 'bash', input: { command } }
    : { name: 'send_file', input: { path: '/chat/kept.csv' } };
  return stepsOf([call], `done: ${resultsIn(body).at(-1)}`)(body);
}

const skills = { report: '---\nname: report\ndescription: Makes reports.\n---\nMake a report.\n' };

async function base(t: TestContext): Promise<Readonly<{ toml: string; asked: readonly MessagesRequest[] }>> {
  const asked: MessagesRequest[] = [];
  const model = await startMessagesServer({
    script(body) {
      asked.push(body);
      return script(body);
    },
  });
  t.after(() => model.close());
  const toml = `${machineConfig(await (server as PostgresServer).database(), model.url)}[skills]
bundled = false
`;
  return { toml, asked };
}

const keptIt = (asked: readonly MessagesRequest[]): boolean =>
  asked.some((body) => isRun(body) && resultsIn(body).some((result) => result.includes('Ann,3')));

test(
  'Q14 Q9 M12 T12 on Telegram what was sent to a machine that died is seen, used and sent back by another one',
  { skip },
  async (t) => {
    const { toml, asked } = await base(t);
    const telegram = await startTelegramServer({ privacy: false, flood: false });
    t.after(() => telegram.close());
    const config = `${toml}[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n`;
    const first = await startMachine(t, config, skills);
    await first.line(({ msg }) => msg === 'Telegram is connected');
    const ann = telegram.person({ name: 'Ann' });
    ann.sends({ kind: 'photo', bytes: picture, caption: 'what is it?' });
    await ann.dm.nextMessage('I see it: what is it');
    ann.sends({ kind: 'document', name: 'a.csv', bytes: Buffer.from(csv), caption: '/report keep it' });
    await ann.dm.nextMessage('I see it: keep it');
    assert.ok(keptIt(asked));
    const second = await startMachine(t, config, skills);
    first.child.kill('SIGKILL');
    ann.says('and now it?');
    await ann.dm.nextMessage('I see it: and now it');
    ann.says('/report send it');
    const { file } = await ann.dm.nextFile('kept.csv');
    assert.equal(file.bytes.toString(), csv);
    await ann.dm.nextMessage('I see it: send it');
    assert.deepEqual(await second.stop(), [0, null]);
  },
);

test('Q14 Q9 M12 T12 the same on Slack', { skip }, async (t) => {
  const { toml, asked } = await base(t);
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const config = `${toml}[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\n`;
  const first = await startMachine(t, config, skills);
  await first.line(({ msg }) => msg === 'Slack is connected');
  const anna = slack.workspace.addUser('anna');
  const answered = (words: string): Promise<unknown> =>
    slack.posted(({ text }) => text === `I see it: ${words}`);
  const send = (file: Parameters<typeof slack.sentFile>[0], text: string) =>
    slack.people.dm(anna, text, { files: [slack.sentFile(file)], subtype: 'file_share' });
  send({ name: 'cat.png', mimetype: 'image/png', bytes: picture }, 'what is it?');
  await answered('what is it');
  send({ name: 'a.csv', mimetype: 'text/csv', bytes: Buffer.from(csv) }, '/report keep it');
  await answered('keep it');
  assert.ok(keptIt(asked));
  const second = await startMachine(t, config, skills);
  await second.line(({ msg }) => msg === 'Slack is connected');
  first.child.kill('SIGKILL');
  slack.people.dm(anna, '/report send it');
  const { files = [] } = await slack.posted(
    (message) => message.files !== undefined && message.botId !== undefined,
  );
  assert.equal(slack.bytesOf(String(files[0]?.['id']))?.toString(), csv);
  await answered('send it');
  assert.deepEqual(await second.stop(), [0, null]);
});
