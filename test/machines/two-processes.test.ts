import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { machineConfig, startMachine } from '../support/machine.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { startSlackServer, type SlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const server = await startPostgres();
after(() => server?.close());

const skills = {
  lookup: '---\nname: lookup\ndescription: Looks things up.\nargument_hint: "[question]"\n---\nLook it up.\n',
};

/** A model that answers `answer to SAID`, and holds back what was said with the word `hold` until it is let go. */
async function startModel(t: TestContext) {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const asked = new Map<string, number>();
  const waiting = new Set<() => void>();
  const gate = (said: string): PromiseWithResolvers<void> => {
    const known = gates.get(said) ?? Promise.withResolvers<void>();
    gates.set(said, known);
    return known;
  };
  const messages = await startMessagesServer({
    script: (body) => {
      const said = wordsOf(body);
      asked.set(said, (asked.get(said) ?? 0) + 1);
      for (const look of waiting) look();
      const hold = said.startsWith('hold') ? { wire: { hold: gate(said).promise } } : {};
      return { content: [{ type: 'text', text: `answer to ${said}` }], ...hold };
    },
  });
  t.after(() => messages.close());
  return {
    url: messages.url,
    letGo: (said: string) => gate(said).resolve(),
    /** Resolves when the model was asked about this so many times. */
    asked: (said: string, times = 1) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if ((asked.get(said) ?? 0) < times) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** The last words between letters that the tests use: `hold ann`, `number 7`. */
function wordsOf(body: MessagesRequest): string {
  return (
    JSON.stringify(body.messages)
      .match(/(?:hold|number) [a-z0-9]+/g)
      ?.at(-1) ?? 'something'
  );
}

const slackConfig = ({ tokens, url }: SlackServer): string =>
  `[slack]\nbot_token = "${tokens.bot}"\napp_token = "${tokens.app}"\napi_url = "${url}"\n`;

const skip = server === undefined ? noPostgres : false;

test(
  'Q9 two processes: /stop reaches the other, and a killed poller’s updates, work, line and buttons pass to it',
  { skip },
  async (t) => {
    const { database } = server as PostgresServer;
    const model = await startModel(t);
    const telegram = await startTelegramServer({ privacy: false, flood: false });
    t.after(() => telegram.close());
    const toml = `${machineConfig(await database(), model.url)}[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n`;
    const first = await startMachine(t, `${toml}[agent]\nconcurrency = 1\n`, skills);
    await first.line(({ msg }) => msg === 'Telegram is connected');
    const ann = telegram.person({ name: 'Ann' });
    const xavier = telegram.person({ name: 'Xavier' });

    xavier.says('/lookup hold xavier');
    await model.asked('hold xavier');
    const line = await xavier.dm.nextMessage('lookup');
    const second = await startMachine(t, toml, skills);
    await second.line(({ msg }) => msg === 'Telegram is connected');

    // The first process polls and has no queue left: this is answered by the second.
    ann.says('hold ann');
    await model.asked('hold ann');
    ann.says('/stop');
    await ann.dm.nextMessage('Stopped.');
    ann.says('/start skill_lookup');
    const offer = await ann.dm.nextMessage('Looks things up');
    assert.ok(offer.buttons.length > 0);

    for (let n = 0; n < 3; n++) ann.says(`number ${n}`);
    first.child.kill('SIGKILL');
    for (let n = 3; n < 6; n++) ann.says(`number ${n}`);
    ann.presses(offer.id, offer.buttons[0] ?? '');
    for (let n = 0; n < 6; n++) await ann.dm.nextMessage(`answer to number ${n}`);
    await model.asked('hold xavier', 2);
    model.letGo('hold xavier');
    await telegram.until(
      'the answer',
      () => xavier.dm.sent().some(({ text }) => text.startsWith('answer')) || undefined,
    );

    const answersTo = (n: number) =>
      ann.dm.everSent().filter(({ text }) => text === `answer to number ${n}`).length;
    // What the press began says what was said last. (The offer may have come twice: the first process may not have noted it.)
    await telegram.until('what the press began', () => answersTo(5) === 2 || undefined);
    for (let n = 0; n < 5; n++) assert.equal(answersTo(n), 1, `number ${n}`);
    const heard = xavier.dm.everSent();
    assert.deepEqual(
      heard.map(({ id, deleted }) => [id === line.id, deleted]),
      [
        [true, true],
        [false, false],
      ],
      'the line gives way to the answer',
    );
    assert.equal(heard[1]?.text, 'answer to hold xavier');
    await telegram.until('the acknowledgement', () => telegram.queue.waiting().length === 0 || undefined);
    model.letGo('hold ann');
    assert.deepEqual(await second.stop(), [0, null]);
  },
);

test(
  'Q9 two processes on Slack’s sockets answer each mention once, whichever of them gets its twins',
  { skip },
  async (t) => {
    const { database } = server as PostgresServer;
    const model = await startModel(t);
    const slack = await startSlackServer();
    t.after(() => slack.close());
    const config = `${machineConfig(await database(), model.url)}${slackConfig(slack)}`;
    const bots = await Promise.all([startMachine(t, config, skills), startMachine(t, config, skills)]);
    for (const bot of bots) await bot.line(({ msg }) => msg === 'Slack is connected');
    const anna = slack.workspace.addUser('anna');
    const rooms = Array.from({ length: 6 }, () => slack.workspace.addRoom('channel', { members: [anna.id] }));
    const said = rooms.map((room, n) => slack.people.mention(anna, room, `number ${n}`));
    await Promise.all(said.map(({ delivered }) => delivered));
    for (const n of rooms.keys()) await slack.posted(({ text }) => text === `answer to number ${n}`);
    for (const bot of bots) assert.deepEqual(await bot.stop(), [0, null]);
    for (const room of rooms)
      assert.equal(room.messages.filter(({ botId }) => botId !== undefined).length, 1);
    const accepted = bots.map(
      ({ lines }) => lines.filter(({ msg }) => msg === 'a message was accepted').length,
    );
    assert.ok(
      accepted.every((count) => count > 0),
      `accepted ${accepted.join(' and ')}`,
    );
  },
);
