import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';
import { readBotApiSchema, schemaMissing } from '../servers/telegram/bot-api-schema.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const skip = schemaMissing;

/** The first bytes of a PNG: 2 by 1 points. */
const picture = Buffer.from('89504e470d0a1a0a0000000d494844520000000200000001', 'hex');

/** Calls that bring a file come as a form, in which everything is text. */
const uploads: ReadonlySet<string> = new Set(['sendDocument', 'sendPhoto', 'sendVoice']);

function fromForm(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const numbers = ['message_thread_id'];
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value]),
  );
}

test('H3 every request of the channel is one that the published Bot API describes', { skip }, async () => {
  const schema = readBotApiSchema();
  await using bot = await startTelegramBot({
    server: { flood: false },
    reaction: '👀',
    onEvent: async (event) => {
      if (event.type === 'message') event.stored?.();
    },
  });
  const { server, channel } = bot;
  const ann = server.person();
  const group = server.group({ forum: true });
  const topic = { channel: 'telegram', chat: String(group.id), thread: String(group.topic('News')) };
  const entry = { name: 'code-review', description: 'Reviews', hint: '[file]' };
  await channel.setMenus({ private: [entry], group: [entry] });
  const asked = ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const buttons = [
    { label: 'Yes', action: 'yes' },
    { label: 'Open', url: 'https://example.org' },
  ];
  const receipt = await channel.send(place, { markdown: '**a** `b`', buttons, replyTo: String(asked) }, 'k');
  await channel.edit(place, receipt, { markdown: 'done' });
  await channel.send(topic, { markdown: '| a |\n|---|\n| 1 |' }, 'k');
  const line = keptPlaceholder({ replyTo: String(asked) });
  await channel.status(topic, { kind: 'line', text: 'working' }, line);
  const shown = await line.first;
  await channel.status(topic, undefined, line);
  await channel.remove(topic, shown);
  await channel.lookUpChat(topic);
  const offered = await channel.send(place, { markdown: 'x', buttons }, 'k');
  const press = ann.presses(Number(offered.id), 'Yes');
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-conformance-'));
  for (const [name, mime, bytes] of [
    ['a.txt', 'text/plain', Buffer.from('x')],
    ['a.ogg', 'audio/ogg', Buffer.from(`OggS${'\0'.repeat(24)}OpusHead`)],
    ['a.png', 'image/png', picture],
  ] as const) {
    const file = path.join(folder, name);
    await writeFile(file, bytes);
    const part = { markdown: '*look*', replyTo: String(asked), buttons };
    await channel.send(
      place,
      { ...part, file: { id: 'f', name, mime, size: bytes.length, path: file } },
      'k',
    );
    await channel.send(
      topic,
      { markdown: '', file: { id: 'f', name, mime, size: bytes.length, path: file } },
      'k',
    );
  }
  await rm(folder, { recursive: true });
  await server.until('the answer', () => press.answered() && ann.dm.reactions(asked).length > 0);
  const methods = new Set(server.calls().map(({ method }) => method));
  assert.ok(
    methods.has('sendDocument') && methods.has('sendPhoto') && methods.size >= 13,
    [...methods].join(' '),
  );
  for (const { method, args, answer } of server.calls()) {
    assert.deepEqual(schema.request(method, uploads.has(method) ? fromForm(args) : args), [], method);
    if (answer?.['ok'] === true) assert.deepEqual(schema.result(method, answer['result']), [], method);
  }
});

test(
  'H9 every update of the Bot API server is one that the published Bot API describes',
  { skip },
  async () => {
    const schema = readBotApiSchema();
    await using server = await startTelegramServer({ privacy: false });
    const ann = server.person({ name: 'Ann Lee', username: 'ann_lee' });
    const eve = server.person({ name: 'Eve', isBot: true });
    const group = server.group({ forum: true });
    const small = server.group({ type: 'group' });
    const news = server.channel();
    const topic = group.topic('News', ann.user);
    const said = ann.says('hi @test_bot 👍 https://example.org/a');
    ann.edits(said, 'hello');
    ann.says('x', { in: group, topic });
    ann.says('x', { in: group, as: 'group' });
    ann.says('x', { in: group, as: news });
    eve.says('/skill@test_bot x', { in: small, replyTo: eve.says('y', { in: small }) });
    ann.says('x', { forwardedFrom: eve.user });
    ann.sendsAlbum(2, 'two @test_bot');
    ann.sends({ kind: 'document', name: 'a.pdf', mime: 'application/pdf', caption: 'look' });
    ann.sends({ kind: 'voice', mime: 'audio/ogg' });
    news.posts('news');
    small.migrate();
    ann.blocks();
    const updates = server.queue.waiting().map(({ body }) => body);
    assert.ok(updates.length >= 17, String(updates.length));
    for (const update of updates) {
      // The platform sends this field of small groups although it is no longer described.
      const told = schema
        .value('Update', update)
        .filter((one) => !one.includes('all_members_are_administrators'));
      assert.deepEqual(told, [], JSON.stringify(update));
    }
  },
);
