import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { startMessagesServer, type Script } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { BotProcess } from '../support/bot-process.ts';
import { freePort } from '../support/free-port.ts';
import { machineConfig, startMachine } from '../support/machine.ts';
import { until } from '../support/until.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { startTcpBalancer, type Target } from '../support/tcp-balancer.ts';

const server = await startPostgres();
after(() => server?.close());
const skip = server === undefined ? noPostgres : false;
const skills = {
  lookup: '---\nname: lookup\ndescription: Looks things up.\nargument_hint: "[question]"\n---\nLook it up.\n',
};

const answerOf = ({ messages }: MessagesRequest): string =>
  `answer to ${
    JSON.stringify(messages)
      .match(/number \d+/g)
      ?.at(-1) ?? 'something'
  }`;

async function start(t: TestContext, script: Script = answerOf) {
  const model = await startMessagesServer({ script });
  t.after(() => model.close());
  const balancer = await startTcpBalancer();
  t.after(() => balancer.close());
  return { toml: machineConfig(await (server as PostgresServer).database(), model.url), balancer, model };
}

/** Two processes that take a bot's webhook behind a balancer. */
async function startTelegramPair(t: TestContext, script?: Script) {
  const { toml, balancer, model } = await start(t, script);
  const telegram = await startTelegramServer({ privacy: false, flood: false, webhookRetryMs: 20 });
  t.after(() => telegram.close());
  const url = `http://127.0.0.1:${balancer.port}/telegram/hook`;
  const ports = [await freePort(), await freePort()] as const;
  const startOne = (port: number): Promise<BotProcess> =>
    startMachine(
      t,
      `${toml}[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\nmode = "webhook"\nwebhook_url = "${url}"\nwebhook_secret = "a-secret_of_the_webhook"\nlisten = "127.0.0.1:${port}"\n`,
      skills,
    );
  const bots = await Promise.all([startOne(ports[0]), startOne(ports[1])]);
  const targets = [target(ports[0]), target(ports[1])] as const;
  await Promise.all(bots.map((bot) => bot.line(({ msg }) => msg === 'Telegram is connected')));
  balancer.moveTo(targets);
  return { telegram, balancer, model, bots, targets };
}

/** Each process was called, and accepted what it was called for. */
function assertBothAccepted(bots: readonly BotProcess[]): void {
  const accepted = bots.map(
    ({ lines }) => lines.filter(({ msg }) => msg === 'a message was accepted').length,
  );
  assert.ok(
    accepted.every((count) => count > 0),
    `accepted ${accepted.join(' and ')}`,
  );
}

const target = (port: number): Target => ({ host: '127.0.0.1', port });

test(
  'Q9 H3 Q1 two processes take Telegram’s webhook behind a balancer: each update once, whoever is called, and whoever is away',
  { skip },
  async (t) => {
    const { telegram, balancer, bots, targets } = await startTelegramPair(t);
    const people = ['Ann', 'Bea', 'Cid', 'Dan'].map((name) => telegram.person({ name }));
    const [ann, bea] = people;
    assert.ok(ann !== undefined && bea !== undefined);
    for (const [n, person] of people.entries()) person.says(`number ${n}`);
    for (const [n, person] of people.entries()) await person.dm.nextMessage(`answer to number ${n}`);
    assertBothAccepted(bots);

    // What one process has shown, a press brings to the other one.
    const [one, other] = targets;
    balancer.switch(other, false);
    ann.says('/start skill_lookup');
    const offer = await ann.dm.nextMessage('Looks things up');
    balancer.switch(other, true);
    balancer.switch(one, false);
    ann.presses(offer.id, offer.buttons[0] ?? '');
    await ann.dm.nextMessage('answer to number 0');

    // Nobody answers: Telegram calls again.
    balancer.switch(other, false);
    bea.says('number 7');
    await until(async () => {
      const info = await fetch(`${telegram.url}/bot${telegram.token}/getWebhookInfo`);
      return JSON.stringify(await info.json()).includes('Connection failed');
    });
    balancer.switch(one, true);
    await bea.dm.nextMessage('answer to number 7');

    // One died, and no health check has noticed.
    balancer.switch(other, true);
    bots[1].child.kill('SIGKILL');
    for (const [n, person] of people.entries()) person.says(`number 1${n}`);
    for (const [n, person] of people.entries()) {
      await person.dm.nextMessage(`answer to number 1${n}`);
      assert.equal(person.dm.everSent().filter(({ text }) => text === `answer to number 1${n}`).length, 1);
    }
    assert.equal(telegram.calls('getUpdates').length + telegram.calls('deleteWebhook').length, 0);
    assert.deepEqual(await bots[0].stop(), [0, null]);
  },
);

test(
  'Q9 H3 what a client cut is one message though its pieces reach different processes',
  { skip },
  async (t) => {
    // What is being answered keeps what comes after it waiting, so that a slow machine is no reason to part it.
    const held = Promise.withResolvers<void>();
    const { telegram, balancer, model, bots, targets } = await startTelegramPair(t, (request) => ({
      content: [{ type: 'text', text: answerOf(request) }],
      wire: { hold: held.promise },
    }));
    const ann = telegram.person({ name: 'Ann' });
    const where = telegram.group({ title: 'Team' });
    let sent = 0;
    const accepted = (): number =>
      bots.flatMap(({ lines }) => lines.filter(({ msg }) => msg === 'a message was accepted')).length;
    const everyOther = async (say: () => unknown): Promise<void> => {
      const [one, other] = sent % 2 === 0 ? targets : targets.toReversed();
      balancer.switch(one, true);
      balancer.switch(other, false);
      say();
      sent += 1;
      await until(() => accepted() === sent);
    };
    const { username } = telegram.me;
    await everyOther(() => ann.says(`@${username} number 1`, { in: where }));
    await until(() => model.requests.length === 1);
    const begins = `@${username} number 2 `.padEnd(4096, 'a');
    await everyOther(() => ann.says(begins, { in: where }));
    await everyOther(() => ann.says('bb cc', { in: where, quick: true }));
    held.resolve();
    await where.nextMessage('answer to number 2');
    assert.match(JSON.stringify(model.requests.at(-1)?.body.messages), /a{4000,}\\nbb cc/);
    for (const bot of bots) assert.deepEqual(await bot.stop(), [0, null]);
  },
);

test(
  'Q9 H4 Q1 two processes take Slack’s HTTP calls behind a balancer: events, their repeats, slash calls and presses, each once',
  { skip },
  async (t) => {
    const { toml, balancer } = await start(t);
    const slack = await startSlackServer();
    t.after(() => slack.close());
    const config = `${toml}[slack]\nbot_token = "${slack.tokens.bot}"\nsigning_secret = "${slack.signingSecret}"\nmode = "http"\nlisten = "127.0.0.1:0"\napi_url = "${slack.url}"\n`;
    const bots = await Promise.all([startMachine(t, config, skills), startMachine(t, config, skills)]);
    const urls = await Promise.all(
      bots.map(async (bot) =>
        String((await bot.line(({ msg }) => msg === 'listening for Slack events'))['url']),
      ),
    );
    const targets = urls.map((url) => target(Number(new URL(url).port)));
    balancer.moveTo(targets);
    slack.deliverTo(`http://127.0.0.1:${balancer.port}/slack/events`);
    slack.knobs.duplicates = 1;
    const anna = slack.workspace.addUser('anna');
    const rooms = Array.from({ length: 4 }, () => slack.workspace.addRoom('channel', { members: [anna.id] }));
    const said = rooms.map((room, n) => slack.people.mention(anna, room, `number ${n}`));
    await Promise.all(said.map(({ delivered }) => delivered));
    for (const n of rooms.keys()) await slack.posted(({ text }) => text === `answer to number ${n}`);
    assertBothAccepted(bots);
    const [one, other] = targets as [Target, Target];
    balancer.switch(other, false);
    const dm = slack.workspace.dmWith(anna.id);
    assert.ok((await slack.people.slash(anna, dm, 'lookup number 5')).ok);
    await slack.posted(({ text }) => text === 'answer to number 5');
    balancer.switch(other, true);
    balancer.switch(one, false);
    slack.people.dm(anna, 'number 6');
    await slack.posted(({ text }) => text === 'answer to number 6');
    for (const bot of bots) assert.deepEqual(await bot.stop(), [0, null]);
    for (const room of rooms)
      assert.equal(room.messages.filter(({ botId }) => botId !== undefined).length, 1);
  },
);
