import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { userContent, whyUnread } from '../../src/runs/user-content.ts';
import { receiveFiles, type ReceiveFilesDeps } from '../../src/conversations/receive-files.ts';
import { createReceivedFiles } from '../../src/runs/received-files.ts';
import { createTranscribe, type TranscribeSettings } from '../../src/conversations/transcribe.ts';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { secretsOfConfig } from '../../src/config/secrets-of-config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Message, Quote } from '../../src/core/message.ts';
import { createServer } from '../../src/lib/net/node-http.ts';
import { configOf } from '../support/config-of.ts';
import { quietLog } from '../support/quiet-log.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';
import { partOf } from '../support/app-of.ts';

const voice = Buffer.from('OggS and what was said');
type Heard = Readonly<{ path: string; authorization: string | undefined; fields: Record<string, unknown> }>;
type Answer = Readonly<{ status: number; body: string; headers?: Readonly<Record<string, string>> }>;

/** A strict server of `/v1/audio/transcriptions`: what it was sent, and what it answers. */
async function startServer(t: TestContext, answer: Answer | 'cut') {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    void formOf(request).then((fields) => {
      heard.push({ path: request.url ?? '', authorization: request.headers.authorization, fields });
      if (answer === 'cut') return request.socket.destroy();
      const good = request.method === 'POST' && fields['file'] !== undefined && fields['model'] !== undefined;
      if (good) response.writeHead(answer.status, answer.headers).end(answer.body);
      else response.writeHead(400).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function formOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece as Uint8Array));
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(Buffer.concat(pieces), { headers }).formData();
  const fields = [...form.entries()].map(async ([key, value]): Promise<readonly [string, unknown]> => {
    if (typeof value === 'string') return [key, value];
    return [key, [value.name, value.type, Buffer.from(await value.arrayBuffer()).toString()]];
  });
  return Object.fromEntries(await Promise.all(fields));
}

/** What the model reads of a voice message. */
async function readOf(
  transcribe: TranscribeSettings | undefined,
  more: Partial<Message> = {},
): Promise<string> {
  return (await takeVoice(transcribe, more)).read;
}

/** What the model reads of a voice message, and what its sender is told. */
async function takeVoice(transcribe: TranscribeSettings | undefined, more: Partial<Message> = {}) {
  const workspace = mkdtempSync(path.join(tmpdir(), 'transcribe-'));
  const log = quietLog();
  const config = configOf();
  const deps: ReceiveFilesDeps = {
    runtime: () => partOf({ config: { ...config, tools: partOf({ transcribe }) } }),
    channels: new Map([
      [
        'telegram',
        partOf<Channel>({ fetchFile: async (_, to) => writeFileSync(to.path, voice, { flag: 'wx' }) }),
      ],
    ]),
    received: createReceivedFiles(createPlainFolders(workspace), async () => 10_000_000_000),
    migrations: unmovedChats,
    folders: createPlainFolders(workspace),
    sandbox: partOf({ seen: (kind) => `/${kind}` }),
    readOffice: () => assert.fail('no document is read'),
    transcribe: createTranscribe({ env: { ...process.env, SKILLET_TEST_KEY: 'sk-secret' }, log }),
    clock: systemClock,
    log,
  };
  const message: Message = {
    id: 'telegram:1:1',
    conversation: { channel: 'telegram', chat: '1' },
    chatType: 'private',
    external: false,
    sender: { id: 'telegram:42', name: 'Ann', kind: 'person' },
    text: '',
    addressed: true,
    attachments: [{ kind: 'audio', name: 'voice.ogg', mime: 'audio/ogg', ref: 'v' }],
    sentAt: 0,
    ...more,
  };
  const received = await receiveFiles(message, [], new AbortController().signal, deps);
  const read = userContent(message, { background: [], received });
  return { read, told: whyUnread(message, received) };
}

const said = { status: 200, body: JSON.stringify({ text: ' Book a table for <two>. ' }) };

test('M12 a voice message is what the person said, marked as a transcript', async (t) => {
  const { heard, baseUrl } = await startServer(t, said);
  const read = await readOf({ baseUrl, apiKey: 'a-key', model: 'whisper-1', language: 'de' });
  assert.match(read, /^\[transcript of "voice\.ogg"\] Book a table for/);
  assert.equal(read.match(/Book a table/g)?.length, 1);
  assert.deepEqual(heard, [
    {
      path: '/v1/audio/transcriptions',
      authorization: 'Bearer a-key',
      fields: {
        model: 'whisper-1',
        response_format: 'json',
        language: 'de',
        file: ['voice.ogg', 'audio/ogg', voice.toString()],
      },
    },
  ]);
});

test('M12 M11 a voice message that was passed on are not the words of who passed it on', async (t) => {
  const { baseUrl } = await startServer(t, said);
  const shared: readonly Quote[] = [{ name: 'Eve', own: false, note: 'forwarded', text: '[voice.ogg]' }];
  const read = await readOf({ baseUrl, model: 'whisper-1' }, { shared });
  assert.match(read, /^\(no text\)/);
  assert.match(read, /<file name="voice\.ogg"[^>]*>\nBook a table/);
});

test('M12 nothing is sent anywhere unless [tools.transcribe] is set', async () => {
  const read = await readOf(undefined);
  assert.match(read, /^\(no text\)/);
  assert.match(read, /a model can not hear it: the operator of this bot can set \[tools\.transcribe\]/);
});

const clip = { kind: 'audio', name: 'clip.ogg', mime: 'audio/ogg', ref: 'v' } as const;

test('M12 without [tools.transcribe], or where it fails, what the platform heard is the person’s words', async (t) => {
  const attachments = [{ ...clip, transcript: { text: 'Call Bob.', whole: true } }];
  assert.match(await readOf(undefined, { attachments }), /^\[transcript of "clip\.ogg"\] Call Bob\.\n/);
  const broken = await startServer(t, { status: 500, body: '{}' });
  const { baseUrl } = broken;
  assert.match(await readOf({ baseUrl, model: 'whisper-1' }, { attachments }), /Call Bob/);
  const own = await startServer(t, said);
  const read = await readOf({ baseUrl: own.baseUrl, model: 'whisper-1' }, { attachments });
  assert.match(read, /Book a table/);
  assert.doesNotMatch(read, /Call Bob/);
  const cut = [{ ...clip, transcript: { text: 'Call', whole: false } }];
  assert.match(await readOf(undefined, { attachments: cut }), /the beginning of its transcript is given/);
});

test('M12 a file that its platform deleted or hides is told as that, and nothing is fetched', async () => {
  const files = ['deleted', 'hidden'] as const;
  for (const missing of files) {
    const read = await readOf(undefined, { attachments: [{ ...clip, missing }] });
    assert.match(
      read,
      missing === 'deleted' ? /not read: it was deleted/ : /not read: this workspace’s plan no longer/,
    );
  }
});

const faults: readonly (readonly [string, Answer | 'cut', RegExp])[] = [
  ['refuses the key', { status: 401, body: '{}' }, /refuses the key of this bot: its operator can set/],
  ['takes no more', { status: 429, body: '{}' }, /takes no more for now/],
  ['finds it too large', { status: 413, body: '{}' }, /it is too large for the server/],
  ['answers with a page', { status: 200, body: '<html>' }, /answered with status 200 and no text/],
  [
    'answers without end',
    { status: 200, body: JSON.stringify({ text: 'x'.repeat(1_100_000) }) },
    /status 200 and no text/,
  ],
  ['hears nothing', { status: 200, body: '{"text":" "}' }, /no words were heard in it/],
  ['cuts the connection', 'cut', /can not be reached/],
];

for (const [what, answer, problem] of faults)
  test(`M12 a server of transcripts that ${what} is told to the model`, async (t) => {
    const { baseUrl } = await startServer(t, answer);
    const read = await readOf({ baseUrl, model: 'whisper-1' });
    assert.match(read, /^\(no text\)/);
    assert.match(read, problem);
  });

test('M12 S3 neither key nor voice goes along a redirect', async (t) => {
  const other = await startServer(t, said);
  const headers = { location: `${other.baseUrl}/audio/transcriptions` };
  const { baseUrl } = await startServer(t, { status: 307, body: '', headers });
  assert.match(await readOf({ baseUrl, apiKey: 'a-key', model: 'm' }), /status 307 and no text/);
  assert.deepEqual(other.heard, []);
});

const printing = (script: string, ...args: readonly string[]): TranscribeSettings => ({
  model: 'whisper-1',
  command: [process.execPath, '-e', script, ...args],
});

for (const args of [[], ['--', '{file}', 'last'], ['--', '--input={file}']])
  test(`M12 a program of the operator reads the audio file: ${JSON.stringify(args)}`, async () => {
    const read = await readOf(
      printing(
        `const file = process.argv.find((part) => /voice/.test(part)).replace('--input=', '');
        process.stdout.write(require('fs').readFileSync(file, 'utf8') + ' in <' + file + '>\\n');`,
        ...args,
      ),
    );
    const [, file = ''] =
      /^\[transcript of "voice\.ogg"\] OggS and what was said in \S*?([/].*voice\.ogg)/.exec(read) ?? [];
    assert.notEqual(file, '', read);
    assert.equal(existsSync(path.dirname(file)), false, 'the audio is not left behind');
  });

test("M12 S2 a program of the operator gets none of the bot's secrets, and no shell", async () => {
  const script = 'console.log(Object.keys(process.env).join(), process.argv[1])';
  const read = await readOf(printing(script, '$(id)'));
  assert.match(read, /PATH/);
  assert.doesNotMatch(read, /SKILLET_TEST_KEY/);
  assert.match(read, /\$\(id\)/);
});

const programFaults: readonly (readonly [string, TranscribeSettings, RegExp])[] = [
  ['fails', printing("console.log('half'); process.exitCode = 3"), /the program [^.]* failed/],
  ['prints nothing', printing(''), /no words were heard in it/],
  ['prints without end', printing("setInterval(() => console.log('x'.repeat(1e6)), 0)"), /printed too much/],
  ['is not there', { model: 'whisper-1', command: ['/nowhere/whisper'] }, /could not be started/],
];

for (const [what, settings, problem] of programFaults)
  test(`M12 a program of transcripts that ${what} is told to the model and to the person`, async () => {
    const { read, told } = await takeVoice(settings);
    assert.match(read, /^\(no text\)/);
    assert.match(read, problem);
    assert.match(told ?? '', /^I couldn’t understand the recording `voice\.ogg`\. Please type it/);
  });

test('M12 a server of transcripts that fails is told to the person, unless they wrote words too', async (t) => {
  const { baseUrl } = await startServer(t, { status: 500, body: '' });
  const sender = { id: 'telegram:42', name: 'Ann', kind: 'person', language: 'de' } as const;
  const settings = { baseUrl, model: 'm' };
  const { told } = await takeVoice(settings, { sender });
  assert.match(told ?? '', /^Ich konnte nicht verstehen, was in `voice\.ogg` gesagt wird/);
  assert.equal((await takeVoice(settings, { text: 'Listen' })).told, undefined);
});

test('M12 S2 [tools.transcribe] needs an address or a program, and its key is a secret', () => {
  const parse = (...lines: readonly string[]) =>
    parseConfig(['[tools.transcribe]', ...lines].join('\n'), { env: { KEY: 'the-key-of-it' } });
  const good = parse('base_url = "https://api.example/v1"', 'api_key = "$KEY"');
  assert.ok(good.ok);
  assert.deepEqual(good.config.tools.transcribe, {
    baseUrl: 'https://api.example/v1',
    apiKey: 'the-key-of-it',
    model: 'whisper-1',
  });
  assert.ok(secretsOfConfig(good.config).some(({ value }) => value === 'the-key-of-it'));
  const bad = parse('api_key = "$KEY"');
  assert.match(bad.ok ? '' : bad.problems.map(formatConfigProblem).join(), /tools\.transcribe\.base_url/);
  const both = parse('base_url = "https://api.example/v1"', 'command = "whisper"');
  assert.match(both.ok ? '' : both.problems.map(formatConfigProblem).join(), /either base_url or command/);
  const own = parse('command = ["whisper", "--file", "{file}"]');
  assert.deepEqual(own.ok ? own.config.tools.transcribe?.command : own, ['whisper', '--file', '{file}']);
});
