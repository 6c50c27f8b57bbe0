import { PassThrough, Writable } from 'node:stream';
import { createTerminals } from '../../src/operator/terminals/terminals.ts';
import { createTerminal } from '../../src/channels/terminal/create-terminal.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { channelContract } from '../support/channel-contract.ts';
import { quietLog } from '../support/quiet-log.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

channelContract('telegram', async (t, onEvent) => {
  const bot = await startTelegramBot({ server: { flood: false }, onEvent });
  t.after(() => bot[Symbol.asyncDispose]());
  const ann = bot.server.person({ name: 'Ann' });
  return {
    channel: bot.channel,
    says: (text) => void ann.says(text),
    presses: (label) => void ann.presses(ann.dm.sent().at(-1)?.id ?? 0, label),
    seen: () =>
      ann.dm
        .sent()
        .map(({ text }) => text)
        .join('\n'),
  };
});

channelContract('slack', async (t, onEvent) => {
  const { slack, channel } = await connectSlackChannel(t, { onEvent, server: { retryDelaysMs: [0] } });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.dmWith(anna.id);
  const ofBot = () =>
    room.messages.filter(({ user, deleted }) => user === slack.workspace.bot.user && !deleted);
  return {
    channel,
    says: (text) => void slack.people.dm(anna, text),
    presses: (label) => void slack.people.press(anna, ofBot().at(-1) ?? { channel: '', ts: '' }, label),
    seen: () =>
      ofBot()
        .flatMap(({ text, blocks = [] }) => [text, ...blocks.map((block) => JSON.stringify(block['text']))])
        .join('\n'),
  };
});

channelContract('terminal', async (t, onEvent) => {
  const store = await openStore('sqlite::memory:');
  const log = quietLog();
  const terminals = createTerminals({
    name: 'terminal',
    store,
    cancel: async () => false,
    saveFile: async (_, { path }) => path,
    whyUnheard: async () => undefined,
    clock: systemClock,
  });
  const chunks: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  const input = new PassThrough();
  const who = { user: 'ann', as: 'private', patient: true } as const;
  const terminal = createTerminal({
    screen: { input, output, colour: false },
    who,
    typing: { completions: () => [] },
    clock: systemClock,
    log,
  });
  const seat = terminals.sit(who, terminal);
  await terminals.channel.start(onEvent);
  await terminal.start(async (event) => {
    if (event.type === 'message') await seat.tell({ message: event.message });
    if (event.type === 'press') await seat.tell({ press: event.press });
  });
  const stop = async (): Promise<void> => {
    await terminal.stop();
    await terminals.channel.stop();
  };
  t.after(async () => {
    await stop();
    await store.close();
  });
  return {
    channel: { ...terminals.channel, stop },
    says: (text) => void input.write(`${text}\n`),
    presses: (label) => void input.write(`${label}\n`),
    seen: () => chunks.join(''),
  };
});
