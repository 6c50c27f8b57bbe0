import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createDelivery, withoutFile } from '../../src/replies/deliver.ts';
import {
  createDeliverArtifacts,
  fileName,
  createOutgoingFiles,
  type OutgoingFiles,
} from '../../src/replies/artifacts.ts';
import { createReplies } from '../../src/replies/replies.ts';
import type { Channel } from '../../src/core/channel.ts';
import { requesterOf, type Message } from '../../src/core/message.ts';
import type { Conversation } from '../../src/core/conversation.ts';
import { createRedaction } from '../../src/lib/redaction/redact.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';

type Stage = Readonly<{
  clock: ManualClock;
  outgoing: OutgoingFiles;
  /** Hands a file over and says an answer behind it. */
  answer(asked?: Partial<Message>): Promise<void>;
  /** What the person sees, in order; a file as `[its name]` and its caption. */
  seen(): readonly string[];
  /** Sends what there is, time passing as it must. */
  deliver(): Promise<void>;
  left(): Promise<readonly string[]>;
}>;

/** A real channel at its test server, an answer with a file on its way to it. */
async function stageOf(
  t: TestContext,
  {
    channel,
    conversation,
    seen,
    vanishes = false,
  }: { channel: Channel; conversation: Conversation; seen: Stage['seen']; vanishes?: boolean },
): Promise<Stage> {
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-deliver-'));
  t.after(() => rm(workspace, { recursive: true, force: true }));
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const channels = new Map([[channel.name, channel]]);
  const log = quietLog();
  const outgoing = createOutgoingFiles(createPlainFolders(workspace));
  const redact = (): ((text: string) => string) => (text) => text;
  const voice = createReplies({
    store,
    outgoing,
    channels,
    owners: async () => [],
    languageOf: async () => undefined,
    redact,
    log,
  });
  const deliverArtifacts = createDeliverArtifacts({
    store,
    outgoing,
    channels,
    replies: voice,
    clean: () => createRedaction([]),
  });
  const find: OutgoingFiles['find'] = async (id) => {
    const found = await outgoing.find(id);
    if (vanishes) await outgoing.remove(id);
    return found;
  };
  const delivery = createDelivery({
    outbox: store.outbox,
    store,
    channels,
    currentPlace: async (place) => place,
    onMoved: async () => undefined,
    outgoing: { ...outgoing, find },
    clock,
    log,
  });
  const message: Message = {
    id: 'x:1:1',
    conversation,
    chatType: 'private',
    external: false,
    sender: { id: 'x:1', name: 'Ann', kind: 'person' },
    text: 'The report?',
    addressed: true,
    attachments: [],
    sentAt: 0,
  };
  return {
    clock,
    outgoing,
    seen,
    async answer(asked = {}) {
      const requester = requesterOf({ ...message, ...asked });
      const file = { name: 'a.csv', data: 'name,amount\n', caption: 'The report' };
      const handed = await deliverArtifacts([file], { requester, turn: 'x:1:1', call: 'c', index: 0 });
      assert.ok(handed[0]?.ok);
      await store.commit({ outbox: await voice.rows(conversation, 'x:1:1', 'The answer') });
    },
    async deliver() {
      delivery.start();
      for (;;) {
        await delivery.idle();
        if ((await store.outbox.pending(conversation)) === 0) break;
        await clock.advance(1_000);
      }
      await delivery.stop(60_000);
    },
    left: () => readdir(path.join(workspace, 'outgoing')),
  };
}

/** One server and channel of each platform for all cases: each has a person of its own. */
const telegram = onlyOnce(startTelegramBot);
const ending: (() => unknown)[] = [];
const connected = onlyOnce(() => connectSlackChannel({ after: (end: () => unknown) => ending.push(end) }));
after(async () => {
  await (await telegram())[Symbol.asyncDispose]();
  for (const end of ending) await end();
});

function onlyOnce<Result>(make: () => Promise<Result>): () => Promise<Result> {
  const made: Promise<Result>[] = [];
  return () => {
    made[0] ??= make();
    return made[0];
  };
}

async function onTelegram(t: TestContext, more: Readonly<{ vanishes?: boolean }> = {}) {
  const bot = await telegram();
  const ann = bot.server.person();
  const asked = ann.says('hi');
  const stage = await stageOf(t, {
    ...more,
    channel: bot.channel,
    conversation: { channel: 'telegram', chat: String(ann.id) },
    seen: () =>
      ann.dm.everSent().map(({ text, file }) => (file === undefined ? text : `[${file.name}] ${text}`)),
  });
  const answered = (): readonly unknown[] => ann.dm.everSent().map(({ replyTo }) => replyTo);
  return { ...stage, faults: bot.server.faults, asked, answered };
}

async function onSlack(t: TestContext, more: Readonly<{ vanishes?: boolean }> = {}) {
  const { slack, channel } = await connected();
  const room = slack.workspace.dmWith(slack.workspace.addUser(`anna-${slack.workspace.users.size}`).id);
  const stage = await stageOf(t, {
    ...more,
    channel,
    conversation: { channel: 'slack', chat: room.id },
    seen: () =>
      room.messages.map(({ text, files, blocks }) =>
        files === undefined ? text : `[${String(files[0]?.['name'])}] ${captionOf(blocks)}`,
      ),
  });
  return { ...stage, faults: slack.faults };
}

function captionOf(blocks: readonly unknown[] = []): string {
  return (blocks[0] as { text: { text: string } }).text.text;
}

test('M12 files that can not be sent together give way to a sentence for each', () => {
  const file = (name: string) => ({ id: name, name, mime: 'text/csv', size: 2_000 });
  const part = { markdown: 'Both', file: file('a.csv'), more: [file('b.csv')], replyTo: '7' };
  assert.deepEqual(withoutFile(part, 'It was not accepted.'), {
    markdown:
      'Both\n\nI could not send the file `a.csv` (2 kB). It was not accepted.\nI could not send the file `b.csv` (2 kB). It was not accepted.',
    replyTo: '7',
  });
});

for (const chatType of ['group', 'private'] as const)
  test(`M12 a file in a ${chatType} chat replies to the question as texts do`, async (t) => {
    const { answer, deliver, asked, answered, seen } = await onTelegram(t);
    await answer({ chatType, platformId: String(asked) });
    await deliver();
    assert.deepEqual(plain(seen()), whole);
    assert.deepEqual(answered(), [chatType === 'group' ? asked : undefined, undefined]);
  });

test('M12 a file arrives though the question was deleted meanwhile', async (t) => {
  const { answer, deliver, answered, seen } = await onTelegram(t);
  await answer({ chatType: 'group', platformId: '999999' });
  await deliver();
  assert.deepEqual(plain(seen()), whole);
  assert.deepEqual(answered(), [undefined, undefined]);
});

const whole = ['[a.csv] The report', 'The answer'];
const missing = (why: string): readonly string[] => [
  `The report\n\nI could not send the file a.csv (12 bytes). ${why}`,
  'The answer',
];
const plain = (texts: readonly string[]): readonly string[] => texts.map((text) => text.replaceAll('`', ''));

/** As often as a file is tried; more would meet the next case. */
const mostTimes = 7;

const telegramFaults = [
  [
    'too large for a proxy',
    { status: { code: 413, description: 'Request Entity Too Large' } },
    1,
    missing('Telegram doesn’t accept files this large (12 bytes).'),
  ],
  [
    'of a wrong type',
    { status: { code: 400, description: 'Bad Request: wrong type of the web page content' } },
    1,
    missing('It was not accepted.'),
  ],
  [
    'forbidden in the chat',
    { status: { code: 400, description: 'Bad Request: not enough rights to send documents to the chat' } },
    1,
    missing('I’m not allowed to send files in this chat.'),
  ],
  ['limited for a while', { retryAfter: 1 }, 1, whole],
  ['cut off in the middle once', { cut: 'before' }, 1, whole],
  ['cut off in the middle always', { cut: 'before' }, mostTimes, missing('It was not accepted.')],
  ['behind a broken proxy always', { badGateway: true }, mostTimes, missing('It was not accepted.')],
  ['taken without our hearing of it', { cut: 'after' }, 1, [whole[0], ...whole]],
] as const;

for (const [what, fault, times, expected] of telegramFaults) {
  test(`T12 Q6 on Telegram a file that is ${what}: the answer arrives, and what is missing is said`, async (t) => {
    const { answer, deliver, seen, left, faults, clock } = await onTelegram(t);
    faults.add({ method: 'sendDocument', times, ...fault });
    await answer();
    const began = clock.now();
    await deliver();
    assert.deepEqual(seen(), expected);
    assert.ok(clock.now() - began <= 120_000, 'the answer waits a minute or two, no more');
    assert.deepEqual(await left(), []);
  });
}

const slackFaults = [
  [
    'too large for the place of bytes',
    'upload',
    { kind: 'status', status: 413 },
    1,
    missing('Slack doesn’t accept files this large (12 bytes).'),
  ],
  [
    'too large for the workspace',
    'files.getUploadURLExternal',
    { kind: 'error', error: 'file_upload_size_restricted' },
    1,
    missing('This Slack workspace doesn’t accept files this large.'),
  ],
  [
    'of a wrong type',
    'files.completeUploadExternal',
    { kind: 'error', error: 'file_type_not_allowed' },
    1,
    missing('This Slack workspace doesn’t accept files of this type.'),
  ],
  [
    'beyond the permissions of the app',
    'files.getUploadURLExternal',
    { kind: 'error', error: 'missing_scope' },
    1,
    missing('My Slack app lacks the permission to send files (files:write).'),
  ],
  [
    'refused while the token is not valid',
    'files.completeUploadExternal',
    { kind: 'error', error: 'token_expired' },
    2,
    whole,
  ],
  ['limited for a while', 'upload', { kind: 'ratelimited', retryAfter: 30 }, 1, whole],
  ['cut off in the middle once', 'upload', { kind: 'cut', when: 'before' }, 1, whole],
  [
    'cut off in the middle always',
    'upload',
    { kind: 'cut', when: 'before' },
    mostTimes,
    missing('It was not accepted.'),
  ],
  [
    'shown without our hearing of it',
    'files.completeUploadExternal',
    { kind: 'cut', when: 'after' },
    1,
    whole,
  ],
] as const;

for (const [what, method, fault, times, expected] of slackFaults) {
  test(`T12 Q6 on Slack a file that is ${what}: the answer arrives, and what is missing is said`, async (t) => {
    const { answer, deliver, seen, left, faults } = await onSlack(t);
    faults.next(method, fault, times);
    await answer();
    await deliver();
    assert.deepEqual(plain(seen()), expected);
    assert.deepEqual(await left(), []);
  });
}

test('T12 Q6 a call done again after its file has arrived sends nothing twice and keeps nothing', async (t) => {
  for (const on of [onTelegram, onSlack]) {
    const { answer, deliver, seen, left } = await on(t);
    await answer();
    await deliver();
    await answer();
    await deliver();
    assert.deepEqual(plain(seen()), whole);
    assert.deepEqual(await left(), []);
  }
});

test('T12 Q6 a file that is gone before it is sent, and one that vanishes as it is sent, are told', async (t) => {
  const gone = await onTelegram(t);
  await gone.answer();
  for (const id of await gone.left()) await gone.outgoing.remove(id);
  await gone.deliver();
  assert.deepEqual(gone.seen(), missing('It is no longer stored.'));
  for (const on of [onTelegram, onSlack]) {
    const vanishing = await on(t, { vanishes: true });
    await vanishing.answer();
    await vanishing.deliver();
    assert.deepEqual(plain(vanishing.seen()), missing('It is no longer stored.'));
  }
});

test('T12 where files of too many bytes wait already no more is taken, and the same one handed over again is', async (t) => {
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-outgoing-'));
  t.after(() => rm(workspace, { recursive: true, force: true }));
  const outgoing = createOutgoingFiles(createPlainFolders(workspace), 10_000);
  const bytes = Buffer.alloc(20_000, 1);
  const kept = { size: 20_000, mime: 'application/octet-stream' };
  assert.deepEqual(await outgoing.keep('a', bytes, 'a', 1e6), kept);
  assert.equal(await outgoing.keep('b', bytes, 'b', 1e6), 'full');
  assert.deepEqual(await outgoing.keep('a', bytes, 'a', 1e6), kept);
  await outgoing.remove('a');
  assert.deepEqual(await outgoing.keep('b', bytes, 'b', 1e6), kept);
});

test('T12 what a model calls a file is made a name that every platform and disk takes', () => {
  const cases: Readonly<Record<string, string>> = {
    'out/report.csv': 'report.csv',
    '../../etc/passwd': 'passwd',
    'a\\b\\c.txt': 'c.txt',
    '.bashrc': 'bashrc',
    '...': 'file',
    '': 'file',
    ' . .': 'file',
    CON: '_CON',
    'nul.txt': '_nul.txt',
    'Com1.tar.gz': '_Com1.tar.gz',
    'console.log': 'console.log',
    'report.txt.': 'report.txt',
    'a\u202egnp.exe': 'a_gnp.exe',
    'a\r\nb.txt': 'a b.txt',
    'a"b;c\u0000d.txt': 'a_b_c d.txt',
    '\ud800.txt': '\ufffd.txt',
    'zero\u200bwidth.txt': 'zero_width.txt',
    'é.txt': 'é.txt',
    '報告.pdf': '報告.pdf',
  };
  for (const [given, expected] of Object.entries(cases)) assert.equal(fileName(given), expected, given);
  const long = fileName(`${'報'.repeat(200)}.xlsx`);
  assert.match(long, /^報+\.xlsx$/);
  assert.ok(Buffer.byteLength(long) <= 180 && Buffer.byteLength(long) > 170);
  assert.equal(Buffer.byteLength(fileName(`a.${'x'.repeat(400)}`)), 180);
  assert.equal(fileName('👩'.repeat(300)).isWellFormed(), true);
});
