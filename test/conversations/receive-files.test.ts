import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { receiveFiles, type ReceiveFilesDeps } from '../../src/conversations/receive-files.ts';
import { createReceivedFiles, type ReceivedFiles } from '../../src/runs/received-files.ts';
import { createReadOffice } from '../../src/lib/files/read-office.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { FetchFileError } from '../../src/core/errors.ts';
import { fixed } from '../../src/core/texts/say.ts';
import { tooLarge } from '../../src/channels/save-file.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Attachment, Message } from '../../src/core/message.ts';
import type { Received } from '../../src/core/received.ts';
import { DatabaseFault } from '../../src/store/postgres/open-database.ts';
import { configOf } from '../support/config-of.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { pngOf, zipOf } from '../support/sent-files.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';
import { partOf } from '../support/app-of.ts';

type Sent = Readonly<{
  name: string;
  bytes: Buffer | string;
  /** A platform that makes them has this smaller copy. */
  smaller?: Buffer;
  mime?: string;
  kind?: Attachment['kind'];
  /** Its first downloads end so. */
  troubles?: readonly Error[];
}>;

/** What becomes of these files when somebody sends them in one message, and what was fetched. */
async function sent(
  files: readonly Sent[],
  more: Partial<Message> = {},
  background: readonly Message[] = [],
  otherDeps: Partial<ReceiveFilesDeps> = {},
) {
  const workspace = mkdtempSync(path.join(tmpdir(), 'receive-'));
  const fetched: string[] = [];
  const timesOf = (ref: string): number => fetched.filter((each) => each === ref).length;
  const bytesOf = new Map(files.map(({ name, bytes }) => [name, Buffer.from(bytes)]));
  const config = configOf();
  const deps: ReceiveFilesDeps = {
    runtime: () => partOf({ config }),
    channels: new Map([
      [
        'telegram',
        partOf<Channel>({
          async fetchFile({ ref }, { path: to, maxBytes }) {
            const trouble = files.find(({ name }) => name === ref)?.troubles?.[timesOf(ref)];
            fetched.push(ref);
            if (trouble !== undefined) {
              writeFileSync(to, 'half', { flag: 'wx' });
              throw trouble;
            }
            const bytes = bytesOf.get(ref) ?? Buffer.from(ref);
            if (bytes.length > maxBytes) throw tooLarge(maxBytes);
            writeFileSync(to, bytes, { flag: 'wx' });
          },
          async fetchSmaller({ ref }, { path: to }) {
            const { smaller } = files.find(({ name }) => name === ref) ?? {};
            if (smaller === undefined) throw new FetchFileError('none', { sentence: fixed`there is none` });
            writeFileSync(to, smaller, { flag: 'wx' });
          },
        }),
      ],
    ]),
    received: createReceivedFiles(createPlainFolders(workspace), async () => 10_000_000_000),
    migrations: unmovedChats,
    folders: createPlainFolders(workspace),
    sandbox: partOf({ seen: (kind) => `/${kind}` }),
    transcribe: () => assert.fail('nothing is transcribed'),
    readOffice: createReadOffice(),
    clock: systemClock,
    log: quietLog(),
    ...otherDeps,
  };
  const attachments = files.map((file) => attached(file.name, file));
  const message = { ...said(), attachments, ...more };
  const of = await receiveFiles(message, background, new AbortController().signal, deps);
  const got = attachments.map((attachment) => of(attachment));
  return { got, of, fetched };
}

function attached(name: string, { kind = 'document', mime }: Partial<Attachment> = {}): Attachment {
  return { kind, name, ref: name, ...(mime === undefined ? {} : { mime }) };
}

function said(more: Partial<Message> = {}): Message {
  return {
    id: 'telegram:1:1',
    conversation: { channel: 'telegram', chat: '1' },
    chatType: 'group',
    external: false,
    sender: { id: 'telegram:42', name: 'Ann', kind: 'person' },
    text: '',
    addressed: true,
    attachments: [],
    sentAt: 0,
    ...more,
  };
}

function reasonOf(got: Received | undefined): string {
  return got === undefined ? 'not tried' : got.ok ? 'fetched' : got.reason;
}

test('M12 texts are read in the encodings that programs write', async () => {
  const words = 'Größe;Preis\n1;2 €';
  const western = Buffer.from('Größe;Preis\n1;2 ', 'latin1');
  const files: readonly Sent[] = [
    { name: 'a.csv', bytes: words },
    { name: 'b.csv', bytes: `\uFEFF${words}` },
    { name: 'c.csv', bytes: Buffer.from(`\uFEFF${words}`, 'utf16le') },
    { name: 'd.csv', bytes: Buffer.from(`\uFEFF${words}`, 'utf16le').swap16() },
    { name: 'e.csv', bytes: Buffer.concat([western, Buffer.from([0x80])]) },
  ];
  const { got } = await sent(files);
  for (const one of got)
    assert.deepEqual(one?.ok && [one.text, one.words], [{ text: words, whole: true }, 'text']);
});

test('M12 what is no text is not told as one', async () => {
  const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
  const { got } = await sent([
    { name: 'a.bin', bytes: Buffer.from([1, 2, 3, 250, 251, 252, 253]) },
    { name: 'b.txt', bytes: cyrillic },
    { name: 'c.txt', bytes: 'a\0b' },
    { name: 'd.txt', bytes: '  \n' },
  ]);
  for (const one of got) assert.ok(one?.ok && one.text === undefined && one.shown === undefined);
});

test('M12 of an Office file the words are told', async () => {
  const bytes = zipOf({ 'word/document.xml': '<w:p><w:t>The contract</w:t></w:p>' });
  const { got } = await sent([{ name: 'a.docx', bytes }]);
  const [one] = got;
  assert.deepEqual(one?.ok && [one.words, one.text], [
    'Word document',
    { text: 'The contract', whole: true },
  ]);
});

test('M12 of an Office file that is old or has a password it is told which can be read', async () => {
  const { got } = await sent([{ name: 'a.docx', bytes: Buffer.from('d0cf11e0a1b11ae100000000', 'hex') }]);
  const [one] = got;
  assert.match(one?.ok ? `${one.words}: ${one.unshown}` : '', /with a password: DOCX, XLSX and PPTX without/);
});

test('M12 sound and film are named as what they are', async () => {
  const { got } = await sent([
    { name: 'voice message', bytes: 'OggS…', kind: 'audio', mime: 'audio/ogg' },
    { name: 'video', bytes: Buffer.from('000000186674797069736f6d00000000', 'hex'), kind: 'video' },
  ]);
  assert.deepEqual(
    got.map((one) => one?.ok && [one.words, one.unshown]),
    [
      ['Ogg audio', 'a model can not hear it: the operator of this bot can set [tools.transcribe]'],
      ['MP4 video', 'a model can not watch it'],
    ],
  );
});

test('M12 of one message ten files are fetched, and 50 MB', async () => {
  const many = Array.from({ length: 11 }, (_, index) => ({
    name: `${index}.bin`,
    bytes: Buffer.of(0, index),
  }));
  const { got, fetched } = await sent(many);
  assert.equal(fetched.length, 10);
  assert.match(reasonOf(got[10]), /only the first 10 files/);
  const large = ['a', 'b', 'c'].map((name) => ({ name, bytes: Buffer.alloc(19_000_000, `\0${name}`) }));
  const together = await sent(large);
  assert.deepEqual(together.got.map(reasonOf), ['fetched', 'fetched', 'larger than 12 MB']);
});

test('M12 a download that breaks off is tried again after a while, from its beginning', async () => {
  const brokeOff = new FetchFileError('broke off', { sentence: fixed`it broke off`, passing: true });
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    // What is longer never ends.
    sleep: (ms) => (ms < 30_000 ? Promise.resolve(void slept.push(ms)) : new Promise(() => undefined)),
  };
  const thrice = { name: 'a.bin', bytes: Buffer.of(0, 1), troubles: [brokeOff, brokeOff, brokeOff] };
  const { got, fetched } = await sent([thrice], {}, [], { clock });
  assert.deepEqual([reasonOf(got[0]), fetched.length, slept], ['fetched', 4, [0, 1_000, 4_000]]);
  const [one] = got;
  assert.equal(one?.ok && one.size, 2);
  const always = { ...thrice, troubles: Array.from({ length: 9 }, () => brokeOff) };
  const failed = await sent([always], {}, [], { clock });
  assert.deepEqual([reasonOf(failed.got[0]), failed.fetched.length], ['it broke off', 4]);
});

test('M12 Q11 while the store is away a file waits with its message, and that takes none of the time for downloads', async () => {
  const away = new DatabaseFault('Connection terminated', { code: undefined, connected: false });
  const file = { name: 'a.bin', bytes: Buffer.of(0, 1) };
  const folders = createPlainFolders(mkdtempSync(path.join(tmpdir(), 'receive-')));
  const received = createReceivedFiles(folders, async () => 10_000_000_000);
  const broken = { ...received, keep: () => Promise.reject(away) };
  await assert.rejects(sent([file], {}, [], { received: broken }), away);
  const clock = createManualClock();
  const slow: ReceivedFiles = {
    ...received,
    async keep(...args) {
      await clock.advance(120_000);
      return received.keep(...args);
    },
  };
  assert.deepEqual((await sent([file, file], {}, [], { received: slow, clock })).got.map(reasonOf), [
    'fetched',
    'fetched',
  ]);
});

test('M12 all downloads of a message together take a minute', async () => {
  const clock = createManualClock();
  const seconds = [40, 30];
  const channel = partOf<Channel>({
    async fetchFile(_, { path: to }, signal) {
      const passed = clock.advance((seconds.shift() ?? 0) * 1_000);
      await passed;
      signal.throwIfAborted();
      writeFileSync(to, 'bytes', { flag: 'wx' });
    },
  });
  const files = ['a.bin', 'b.bin'].map((name) => ({ name, bytes: '' }));
  const { got } = await sent(files, {}, [], { clock, channels: new Map([['telegram', channel]]) });
  assert.deepEqual(got.map(reasonOf), ['fetched', 'it took longer than 60 seconds']);
});

test('M12 A10 H14 who sent a file that can not be read is told in their language, its name as code', async () => {
  const gone = { name: '**x** [go](https://evil.example) `a`\n# b', bytes: Buffer.alloc(20_000_001) };
  const { got } = await sent([gone], {
    sender: { id: 'telegram:42', name: 'Ann', kind: 'person', language: 'de' },
  });
  const [one] = got;
  assert.equal(
    one?.ok === false && one.told,
    'Ich konnte `**x** [go](https://evil.example) a # b` nicht lesen: größer als 20 MB.',
  );
});

test('M12 of many long texts the first are told, the rest by name', async () => {
  const texts = ['a', 'b', 'c'].map((name) => ({ name: `${name}.txt`, bytes: name.repeat(50_000) }));
  const { got } = await sent(texts);
  assert.deepEqual(
    got.map((one) => one?.ok && [one.text?.text.length, one.words, one.unshown]),
    [
      [50_000, 'text', undefined],
      [50_000, 'text', undefined],
      [undefined, 'text', 'too much text for one message'],
    ],
  );
});

test('M12 A4 of what was overheard only the newest pictures are fetched, five at most', async () => {
  const photo = (name: string): Message => said({ attachments: [attached(name, { kind: 'photo' })] });
  const heard = [...['1', '2', '3', '4', '5', '6'].map(photo), said({ attachments: [attached('x.pdf')] })];
  const { fetched } = await sent([{ name: 'own.png', bytes: pngOf('own') }], {}, heard);
  assert.deepEqual(fetched, ['own.png', '6', '5', '4', '3']);
});

test('M12 of a picture too large for a model its smaller copy is shown, and the file is kept whole', async () => {
  const bytes = pngOf('large', { bytes: 4_000_000 });
  const smaller = pngOf('small');
  const [shown, told] = (
    await sent([
      { name: 'a.png', bytes, smaller },
      { name: 'b.png', bytes: pngOf('other', { bytes: 4_000_001 }) },
    ])
  ).got;
  assert.ok(shown?.ok && told?.ok);
  assert.deepEqual([shown.path, shown.size], ['/chat/' + shown.path.split('/').at(-1), 4_000_000]);
  assert.equal(shown.shown?.size, smaller.length);
  assert.equal(shown.unshown, undefined);
  assert.match(told.unshown ?? '', /larger than 3\.9 MB/);
});
