import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { FetchFileError } from '../../src/core/errors.ts';
import type { Attachment } from '../../src/core/message.ts';
import { connectSlackChannel, type ConnectedSlack } from '../servers/slack/connected-slack.ts';
import { manifest } from '../servers/slack/manifest.ts';
import type { SentFile } from '../servers/slack/sent-files.ts';
import { sayIn } from '../../src/core/texts/say.ts';

const bytes = Buffer.from('the bytes of a file, some of them at least');
const plain: SentFile = { name: 'plan.txt', mimetype: 'text/plain', bytes };
const limit = 1_000_000;

async function fetchOf({ channel }: ConnectedSlack, attachment: Attachment | undefined): Promise<Buffer> {
  const { ref } = attachment ?? {};
  assert.ok(attachment !== undefined && ref !== undefined, 'it can be fetched');
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'fetched-')), 'file');
  const until = new AbortController().signal;
  await channel.fetchFile({ ...attachment, ref }, { path: file, maxBytes: limit }, until);
  return readFile(file);
}

/** What a person sent, fetched as the bot would. */
async function fetchSent(t: TestContext, sent: SentFile, scopes?: readonly string[]) {
  const connected = await connectSlackChannel(t, scopes === undefined ? {} : { server: { scopes } });
  const { slack } = connected;
  const anna = slack.workspace.addUser('anna');
  slack.people.dm(anna, 'read this', { files: [slack.sentFile(sent)], subtype: 'file_share' });
  const message = await connected.message();
  return fetchOf(connected, message.attachments[0]);
}

test('M12 a file that a person sent on Slack is fetched, byte for byte', async (t) => {
  assert.deepEqual(await fetchSent(t, plain), bytes);
});

test('M12 a web page that a person sent is not taken for the page to sign in on', async (t) => {
  const html = Buffer.from('<!doctype html><p>Hello');
  assert.deepEqual(await fetchSent(t, { name: 'a.html', mimetype: 'text/html', bytes: html }), html);
});

test('M12 of a file from another organization the event holds the id only: Slack is asked for the rest', async (t) => {
  assert.deepEqual(await fetchSent(t, { ...plain, stub: true }), bytes);
});

test('M12 of a picture Slack gives a smaller copy, where it has one', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const picture = { name: 'a.png', mimetype: 'image/png', bytes };
  const files = [{ ...picture, smaller: Buffer.from('small') }, picture].map(slack.sentFile);
  slack.people.dm(slack.workspace.addUser('anna'), 'look', { files, subtype: 'file_share' });
  const [large, only] = (await connected.message()).attachments;
  const smaller = { ...connected, channel: { ...channel, fetchFile: channel.fetchSmaller! } };
  assert.equal(String(await fetchOf(smaller, large)), 'small');
  assert.deepEqual(await fetchOf(connected, large), bytes);
  await assert.rejects(fetchOf(smaller, only), told(/doesn’t let me download/, false));
});

test('M12 a file on Slack that is too large is not even begun', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack } = connected;
  const file = slack.sentFile({ ...plain, bytes: Buffer.alloc(limit + 1) });
  slack.people.dm(slack.workspace.addUser('anna'), 'read', { files: [file], subtype: 'file_share' });
  const { attachments } = await connected.message();
  await assert.rejects(fetchOf(connected, attachments[0]), told(/larger than 1/, false));
  assert.equal(slack.calls.all().filter(({ method }) => method === 'download').length, 0);
});

const readScope = /lacks the scope files:read: my operator can add it/;
const troubles: readonly (readonly [string, SentFile, RegExp, boolean])[] = [
  ['was deleted', { ...plain, trouble: 'deleted' }, /Slack no longer has it/, false],
  ['left a tombstone', { ...plain, trouble: 'tombstone', stub: true }, /Slack no longer has it/, false],
  ['is hidden by the plan', { ...plain, trouble: 'hidden', stub: true }, /plan no longer shows it/, false],
  ['is described oddly', { ...plain, trouble: 'described oddly', stub: true }, /doesn’t let me/, false],
  ['lies outside of Slack', { ...plain, external: true }, /it is stored outside Slack/, false],
  ['is cut in the middle', { ...plain, trouble: 'cut' }, /was incomplete/, true],
  ['has more bytes than was said', { ...plain, trouble: 'more than said' }, /was incomplete/, true],
  ['has fewer bytes than was said', { ...plain, trouble: 'less than said' }, /was incomplete/, true],
  ['has no end', { ...plain, trouble: 'endless' }, /larger than 1/, false],
];

for (const [what, sent, sentence, passing] of troubles)
  test(`M12 a file on Slack that ${what} is refused plainly`, async (t) => {
    await assert.rejects(fetchSent(t, sent), told(sentence, passing));
  });

test('M12 without files:read the person is told which scope is missing', async (t) => {
  const scopes = manifest.oauth_config.scopes.bot.filter((scope) => scope !== 'files:read');
  await assert.rejects(fetchSent(t, plain, scopes), told(readScope, false));
});

for (const mimetype of ['text/plain', 'text/html'])
  test(`M12 the page to sign in on is never taken for a file of ${mimetype}`, async (t) => {
    const connected = await connectSlackChannel(t);
    const { slack } = connected;
    const elsewhere = slack.sentFile({ ...plain, mimetype });
    // The address of a file without the token is answered as it is without the scope.
    const at = String(elsewhere['url_private_download']).replace('/download/', '/download/signed-out/');
    const anna = slack.workspace.addUser('anna');
    const file = slack.sentFile({ ...plain, mimetype, trouble: { at } });
    slack.people.dm(anna, 'read', { files: [file], subtype: 'file_share' });
    const { attachments } = await connected.message();
    await assert.rejects(fetchOf(connected, attachments[0]), told(readScope, false));
  });

for (const way of ['at', 'redirect'] as const)
  test(`M12 S3 the token never goes to a foreign host (${way})`, async (t) => {
    const seen: string[] = [];
    const foreign = createServer((request, response) => {
      seen.push(request.headers.authorization ?? 'nothing');
      response.end('not the file');
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    t.after(() => foreign.close());
    const url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/x`;
    const trouble = way === 'at' ? { at: url } : { redirect: url };
    await assert.rejects(
      fetchSent(t, { ...plain, trouble }),
      told(/Slack doesn’t let me download it/, false),
    );
    assert.deepEqual(seen, []);
  });

test('M12 what Slack deleted or hides is known from its stub, and is not asked for', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack } = connected;
  const stubs = [
    { id: 'F1', mode: 'tombstone' },
    { id: 'F2', mode: 'hidden_by_limit' },
    { id: 'F3', mode: 'file_access', file_access: 'file_not_found' },
    { id: 'F4', mode: 'file_access', file_access: 'check_file_info' },
  ];
  slack.people.dm(slack.workspace.addUser('anna'), 'read', { files: stubs, subtype: 'file_share' });
  const { attachments } = await connected.message();
  assert.deepEqual(
    attachments.map(({ missing }) => missing),
    ['deleted', 'hidden', 'deleted', undefined],
  );
});

test('M12 a voice clip comes with what Slack heard in it', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack } = connected;
  const clip = (transcription: unknown) => ({
    ...slack.sentFile({ name: 'clip.m4a', mimetype: 'audio/mp4', bytes }),
    subtype: 'slack_audio',
    transcription,
  });
  const files = [
    clip({ status: 'complete', locale: 'en-US', preview: { content: ' Call Bob. ', has_more: false } }),
    clip({ status: 'complete', preview: { content: 'Long', has_more: true } }),
    clip({ status: 'processing' }),
    clip('odd'),
  ];
  slack.people.dm(slack.workspace.addUser('anna'), '', { files, subtype: 'file_share' });
  const { attachments } = await connected.message();
  assert.deepEqual(
    attachments.map(({ kind, transcript }) => [kind, transcript]),
    [
      ['audio', { text: 'Call Bob.', whole: true }],
      ['audio', { text: 'Long', whole: false }],
      ['audio', undefined],
      ['audio', undefined],
    ],
  );
});

test('M12 H2 the caption of a file keeps its formatting, and pings nobody', async (t) => {
  const { slack, channel } = await connectSlackChannel(t);
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'to-send-')), 'a.csv');
  await writeFile(file, 'a;b');
  const of = { id: 'f', name: 'a.csv', mime: 'text/csv', size: 3, path: file };
  const markdown = '**Rates** of `a_b` & <!channel>';
  await channel.send({ channel: 'slack', chat: room.id }, { markdown, file: of }, 'k');
  const [caption] = room.messages.at(-1)?.blocks ?? [];
  const { text } = caption as Readonly<{ text: Readonly<Record<string, unknown>> }>;
  assert.equal(text['type'], 'mrkdwn');
  assert.equal(text['verbatim'], true);
  assert.match(String(text['text']), /^\*Rates\* of `a_b` &amp; &lt;\u2060!channel&gt;$/);
  assert.ok(!channel.files.fitsCaption('&'.repeat(1_000)), 'as it is written for Slack it is too long');
});

test('M12 H4 files of one answer are one message on Slack, found again by its key', async (t) => {
  const { slack, channel } = await connectSlackChannel(t);
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const folder = await mkdtemp(path.join(tmpdir(), 'to-send-'));
  const files = await Promise.all(
    ['a.csv', 'b.png'].map(async (name) => {
      await writeFile(path.join(folder, name), name);
      return { id: name, name, mime: 'text/csv', size: name.length, path: path.join(folder, name) };
    }),
  );
  const [file, ...more] = files;
  const place = { channel: 'slack', chat: room.id };
  await channel.send(place, { markdown: '', ...(file && { file, more }) }, 'k');
  const [sent, ...others] = room.messages;
  assert.deepEqual([sent?.files?.map(({ name }) => name), others.length], [['a.csv', 'b.png'], 0]);
  assert.notEqual(await channel.find(place, 'k'), undefined);
});

function told(sentence: RegExp, passing: boolean) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof FetchFileError, String(error));
    assert.match(sayIn(undefined)(error.sentence), sentence);
    assert.equal(error.passing, passing);
    assert.doesNotMatch(`${error.message} ${error.stack}`, /xoxb-/);
    return true;
  };
}
