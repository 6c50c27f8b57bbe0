import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { webApi } from '@slack/bolt';
import { WebSocket } from 'ws';
import {
  checkBlock,
  checkBlocks,
  checkConfirmation,
  checkElement,
  checkOption,
  checkOptionGroup,
  checkText,
} from '../servers/slack/block-kit.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { manifest } from '../servers/slack/manifest.ts';
import { slackMethods } from '../servers/slack/method-table.ts';
import { startSlackServer, type SlackServerOptions } from '../servers/slack/start-slack-server.ts';

const corpora =
  process.env['SKILLET_CORPORA'] ?? path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpora');
const skip = existsSync(path.join(corpora, 'slack-methods')) ? false : `no Slack corpora at ${corpora}`;

type Json = Record<string, unknown>;

function read(...parts: readonly string[]): unknown {
  return JSON.parse(readFileSync(path.join(corpora, ...parts), 'utf8'));
}

/** The server, and Slack's own client as a second opinion on it. */
async function serverAndClient(t: TestContext, options: SlackServerOptions = {}) {
  const slack = await startSlackServer(options);
  t.after(() => slack.close());
  const logger = {
    debug() {},
    info() {},
    warn() {},
    error() {},
    setLevel() {},
    setName() {},
    getLevel: () => webApi.LogLevel.ERROR,
  };
  const client = new webApi.WebClient(slack.tokens.bot, {
    slackApiUrl: slack.url,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger,
  });
  const codeOf = async (call: Promise<unknown>): Promise<string> => {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return 'ok';
    return error instanceof webApi.WebAPIPlatformError ? error.data.error : (error as Error).name;
  };
  return { slack, client, codeOf };
}

test('H4 T12 the steps of an upload are calls that the reference describes', { skip }, async (t) => {
  const { slack, channel } = await connectSlackChannel(t);
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-conformance-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'f'), 'x');
  const file = { id: 'f', name: 'a.txt', mime: 'text/plain', size: 1, path: path.join(folder, 'f') };
  await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'look', file }, 'a'.repeat(32));
  const methods = ['files.getUploadURLExternal', 'files.completeUploadExternal'];
  const made = slack.calls.all().filter(({ method }) => methods.includes(method));
  assert.deepEqual(
    made.map(({ method }) => method),
    methods,
  );
  for (const { method, args } of made) {
    const reference = read('slack-methods', `${method}.json`) as {
      args: { required: string[]; properties: Record<string, Json> };
    };
    const { required, properties } = reference.args;
    for (const name of required.filter((each) => each !== 'token'))
      assert.ok(name in args, `${method} ${name}`);
    for (const name of Object.keys(args)) assert.ok(name in properties, `${method} ${name}`);
  }
});

test(
  'H9 the method table is the reference’s: required arguments, known arguments, rate tier, scopes',
  { skip },
  () => {
    const files = readdirSync(path.join(corpora, 'slack-methods'));
    // No reference of these was at hand.
    const unchecked = ['views.publish'];
    assert.deepEqual(
      Object.keys(slackMethods).sort(),
      [...unchecked, ...files.map((file) => file.replace('.json', ''))].sort(),
    );
    // The SDK sends chunks alone, and Slack takes it: here the reference is wrong.
    const notReally = ['chat.appendStream markdown_text'];
    for (const file of files) {
      const method = file.replace('.json', '');
      const reference = read('slack-methods', file) as {
        args: { required: string[]; properties: Json };
        rate_limits: string;
        scope: { bot?: string[] };
      };
      const known = slackMethods[method] ?? assert.fail(method);
      const required = reference.args.required.filter(
        (name) => name !== 'token' && !notReally.includes(`${method} ${name}`),
      );
      assert.deepEqual([...known.required].sort(), required.sort(), method);
      for (const name of known.optional) assert.ok(name in reference.args.properties, `${method} ${name}`);
      assert.equal(known.tier, reference.rate_limits, method);
      const scopes = reference.scope.bot ?? [];
      assert.deepEqual(
        [...known.scopes].sort(),
        scopes.filter((scope) => !/:manage$|^groups:write$/.test(scope)).sort(),
        method,
      );
    }
  },
);

test('H9 Slack’s own client works with the server: posts, reads, changes, deletes, streams, uploads', async (t) => {
  const { bot } = manifest.oauth_config.scopes;
  const { slack, client } = await serverAndClient(t, { scopes: [...bot, 'im:write'] });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const me = await client.auth.test();
  assert.deepEqual([me.user_id, me.team_id], [slack.workspace.bot.user, slack.workspace.team]);
  const metadata = { event_type: 'test', event_payload: { key: 'k' } };
  const posted = await client.chat.postMessage({ channel: room.id, text: 'one', metadata });
  const channel = room.id;
  const ts = posted.ts ?? assert.fail();
  await client.chat.postMessage({ channel, text: 'two', thread_ts: ts });
  const history = await client.conversations.history({ channel, include_all_metadata: true });
  assert.deepEqual(
    history.messages?.map(({ text, metadata }) => [text, metadata?.event_type]),
    [['one', 'test']],
  );
  const replies = await client.conversations.replies({ channel, ts, limit: 1 });
  assert.equal(replies.messages?.length, 1);
  assert.ok(replies.response_metadata?.next_cursor);
  await client.chat.update({ channel, ts, text: 'changed' });
  assert.deepEqual(slack.transcript(room), ['skillet: changed', 'skillet: two']);
  const stream = client.chatStream({
    channel,
    thread_ts: ts,
    recipient_user_id: anna.id,
    recipient_team_id: anna.team,
  });
  await stream.append({ markdown_text: 'x'.repeat(300) });
  await stream.stop({ markdown_text: 'end' });
  assert.match(room.messages.at(-1)?.text ?? '', /^x{300}end$/);
  await client.filesUploadV2({ channel_id: channel, filename: 'a.txt', content: 'hello' });
  const { files = [] } = await slack.posted((message) => message.files !== undefined);
  assert.equal(slack.bytesOf(String(files[0]?.['id']))?.toString(), 'hello');
  const opened = await client.conversations.open({ users: anna.id });
  assert.match(opened.channel?.id ?? '', /^D/);
  await client.assistant.threads.setStatus({ channel_id: channel, thread_ts: ts, status: 'thinks' });
  await client.reactions.add({ channel, timestamp: ts, name: 'eyes' });
  assert.equal((await client.users.info({ user: anna.id })).user?.name, 'anna');
  await client.chat.delete({ channel, ts });
  assert.equal(slack.transcript(room).length, 3);
});

test('H9 the server refuses what Slack refuses, by the same words, with HTTP 200', async (t) => {
  const now = { ms: Date.now() };
  const { slack, client, codeOf } = await serverAndClient(t, { now: () => now.ms });
  const { workspace } = slack;
  const anna = workspace.addUser('anna');
  const channel = workspace.addRoom('channel', { members: [anna.id] }).id;
  const elsewhere = workspace.addRoom('channel', { bot: false }).id;
  const hidden = workspace.addRoom('group', { bot: false }).id;
  const said = slack.people.post(anna, workspace.rooms.get(channel) ?? assert.fail(), 'hi');
  const call = (method: string, args: Json) => codeOf(client.apiCall(method, args));
  const post = (args: Json) => call('chat.postMessage', { channel, text: 'x', ...args });
  const section = (text: string) => [{ type: 'section', text: { type: 'mrkdwn', text } }];
  const cases: readonly (readonly [Promise<string>, string])[] = [
    [call('no.such.method', {}), 'unknown_method'],
    [post({ channel: 'C0NONE' }), 'channel_not_found'],
    [post({ channel: hidden }), 'channel_not_found'],
    [post({ channel: elsewhere }), 'not_in_channel'],
    [post({ channel: undefined }), 'invalid_arguments'],
    [post({ colour: 'red' }), 'invalid_arguments'],
    [post({ text: '' }), 'no_text'],
    [post({ markdown_text: 'y' }), 'markdown_text_conflict'],
    [post({ blocks: 'no json' }), 'invalid_blocks_format'],
    [post({ blocks: section('') }), 'invalid_blocks'],
    [post({ blocks: section('x'.repeat(3001)) }), 'invalid_blocks'],
    [post({ blocks: Array.from({ length: 51 }, () => ({ type: 'divider' })) }), 'invalid_blocks'],
    [post({ blocks: Array.from({ length: 5 }, () => section('x'.repeat(2900))[0]) }), 'msg_blocks_too_long'],
    [post({ blocks: [{ type: 'markdown', text: 'x'.repeat(12_001) }] }), 'invalid_blocks'],
    [post({ thread_ts: '1.000001' }), 'thread_not_found'],
    [post({ metadata: '{' }), 'invalid_metadata_format'],
    [post({ metadata: { event_type: 'x' } }), 'invalid_metadata_schema'],
    [call('chat.update', { channel, ts: said.ts, text: 'x' }), 'cant_update_message'],
    [call('chat.update', { channel, ts: '1.1', text: 'x' }), 'message_not_found'],
    [call('chat.delete', { channel, ts: said.ts }), 'cant_delete_message'],
    [call('chat.postEphemeral', { channel, user: 'U0NONE', text: 'x' }), 'user_not_in_channel'],
    [call('chat.startStream', { channel, thread_ts: said.ts }), 'missing_recipient_user_id'],
    [
      call('chat.startStream', { channel, thread_ts: said.ts, recipient_user_id: 'U1' }),
      'missing_recipient_team_id',
    ],
    [
      call('assistant.threads.setStatus', { channel_id: channel, thread_ts: '1.1', status: '' }),
      'invalid_thread_ts',
    ],
    [call('conversations.info', { channel: hidden }), 'channel_not_found'],
    [call('apps.connections.open', {}), 'not_allowed_token_type'],
    [codeOf(client.chat.postMessage({ channel, text: 'x', token: 'xoxb-nobody' })), 'invalid_auth'],
  ];
  for (const [index, [code, expected]] of cases.entries())
    assert.equal(await code, expected, `case ${index}`);
  const bare = await fetch(`${slack.url}auth.test`, { method: 'POST' });
  assert.deepEqual([bare.status, await bare.json()], [200, { ok: false, error: 'not_authed' }]);

  const own = await client.chat.postMessage({ channel, text: 'x' });
  const ts = own.ts ?? assert.fail();
  assert.equal(await call('chat.update', { channel, ts, text: 'x'.repeat(4001) }), 'msg_too_long');
  const stream = { channel, thread_ts: ts, recipient_user_id: anna.id, recipient_team_id: anna.team };
  const started = (await client.apiCall('chat.startStream', stream)) as unknown as { ts: string };
  assert.equal(await call('chat.appendStream', { channel, ts: started.ts, markdown_text: 'a' }), 'ok');
  assert.equal(await call('chat.update', { channel, ts: started.ts, text: 'a' }), 'streaming_state_conflict');
  assert.equal(await call('chat.delete', { channel, ts: started.ts }), 'cant_delete_message');
  const append = (markdown_text: string) =>
    call('chat.appendStream', { channel, ts: started.ts, markdown_text });
  assert.equal(await append('x'.repeat(12_001)), 'msg_too_long');
  now.ms += 4 * 60_000;
  assert.equal(await append('b'), 'ok');
  // What is added does not lengthen its life.
  now.ms += 60_000 + 1;
  assert.equal(await call('chat.update', { channel, ts: started.ts, text: 'recovered' }), 'ok');
  assert.equal(await append('c'), 'message_not_in_streaming_state');
  assert.equal(await call('chat.stopStream', { channel, ts: started.ts }), 'message_not_in_streaming_state');
  assert.equal(await call('chat.delete', { channel, ts: started.ts }), 'ok');
});

test('H9 missing scopes are named, rates are kept when asked for', async (t) => {
  const { slack, client, codeOf } = await serverAndClient(t, { strictRates: true, scopes: ['chat:write'] });
  const channel = slack.workspace.addRoom('channel').id;
  assert.equal(await codeOf(client.conversations.info({ channel })), 'missing_scope');
  await client.chat.postMessage({ channel, text: 'x' });
  const limited = await fetch(`${slack.url}chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.tokens.bot}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel, text: 'x' }),
  });
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get('retry-after'), '1');
  assert.deepEqual(await limited.json(), { ok: false, error: 'ratelimited' });
  await client.chat.postMessage({ channel: slack.workspace.addRoom('channel').id, text: 'x' });
});

test(
  'H9 users.info answers with the keys of the reference’s example, and refuses in its words',
  { skip },
  async (t) => {
    const { slack, client, codeOf } = await serverAndClient(t);
    const { workspace } = slack;
    const known = read('slack-methods', 'users.info.json') as {
      examples: { success: { example: { user: { profile: Json } } } };
      errors: Json;
    };
    const example = known.examples.success.example.user;
    const anna = workspace.addUser('anna', { displayName: '', realName: 'Anna Lee' });
    const { user } = await client.users.info({ user: anna.id });
    assert.deepEqual([user?.profile?.display_name, user?.profile?.real_name], ['', 'Anna Lee']);
    for (const key of Object.keys(user ?? assert.fail())) assert.ok(key in example, key);
    for (const key of Object.keys(user?.profile ?? assert.fail())) assert.ok(key in example.profile, key);
    const stranger = workspace.addUser('eve', { team: 'T0OTHER' });
    assert.equal((await client.users.info({ user: stranger.id })).user?.is_stranger, true);
    const hidden = workspace.addUser('hidden', { hidden: true });
    for (const [id, code] of [
      [hidden.id, 'user_not_visible'],
      ['U0NONE', 'user_not_found'],
      [workspace.bot.botId, 'user_not_found'],
    ] as const) {
      assert.equal(await codeOf(client.users.info({ user: id })), code);
      assert.ok(code in known.errors, code);
    }
  },
);

test('H9 users.info takes a hundred calls a minute, and says when it takes more', async (t) => {
  const { slack, client } = await serverAndClient(t, { strictRates: true });
  const anna = slack.workspace.addUser('anna');
  for (let calls = 0; calls < 100; calls++) await client.users.info({ user: anna.id });
  await assert.rejects(client.users.info({ user: anna.id }), (error: unknown) => {
    assert.ok(error instanceof webApi.WebAPIRateLimitedError);
    assert.ok(error.retryAfter > 0 && error.retryAfter <= 60, String(error.retryAfter));
    return true;
  });
});

test(
  'H9 socket frames have the keys of recorded ones; addresses work once; acknowledgements are checked',
  { skip },
  async (t) => {
    const { slack } = await serverAndClient(t, { ackTimeoutMs: 200, retryDelaysMs: [0] });
    const open = async () => {
      const answer = await fetch(`${slack.url}apps.connections.open`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slack.tokens.app}` },
      });
      return ((await answer.json()) as { url: string }).url;
    };
    const url = await open();
    const socket = new WebSocket(url);
    t.after(() => socket.terminate());
    const frames: Json[] = [];
    const arrived = async (count: number) => {
      while (frames.length < count) await once(socket, 'message');
      return frames[count - 1] ?? assert.fail();
    };
    socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString()) as Json));
    const hello = await arrived(1);
    const again = new WebSocket(url);
    const [refused] = (await once(again, 'error')) as [Error];
    assert.match(refused.message, /403/);

    const anna = slack.workspace.addUser('anna');
    const said = slack.people.dm(anna, 'hello');
    const event = await arrived(2);
    // That one is late; the next is waited for.
    slack.knobs.ackTimeoutMs = 60_000;
    socket.send(JSON.stringify({ envelope_id: 'another', payload: {} }));
    const retried = await arrived(3);
    assert.deepEqual(
      [event['retry_attempt'], retried['retry_attempt'], retried['retry_reason']],
      [0, 1, 'timeout'],
    );
    socket.send(JSON.stringify({ envelope_id: retried['envelope_id'], payload: {} }));
    const [delivered] = await said.delivered;
    assert.deepEqual(
      delivered?.attempts.map(({ ok }) => ok),
      [false, true],
    );
    assert.equal(slack.socket.faults.all().length, 1);

    slack.knobs.ackTimeoutMs = 200;
    const slash = slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'dice');
    const command = await arrived(4);
    assert.deepEqual(await slash, { ok: false, reason: 'timeout' });
    assert.equal(frames.length, 4);
    slack.socket.disconnect('refresh_requested');
    const goodbye = await arrived(5);

    const recorded = readdirSync(path.join(corpora, 'slack-socket')).flatMap(
      (file) => read('slack-socket', file) as Json[],
    );
    for (const frame of [hello, event, command, goodbye]) {
      const example =
        recorded.find(({ type }) => type === frame['type']) ?? assert.fail(String(frame['type']));
      const own = Object.keys(frame).sort();
      assert.deepEqual(
        own,
        Object.keys(example)
          .filter((key) => own.includes(key))
          .sort(),
        String(frame['type']),
      );
    }
    const wrapper = Object.keys(event['payload'] as Json);
    const theirs = (recorded.find(({ type }) => type === 'events_api')?.['payload'] ?? {}) as Json;
    for (const key of Object.keys(theirs)) assert.ok(wrapper.includes(key), key);
    const call = command['payload'] as Json;
    for (const key of Object.keys(
      recorded.find(({ type }) => type === 'slash_commands')?.['payload'] ?? {},
    )) {
      assert.ok(key in call, key);
    }
  },
);

test('H9 more than ten connections are turned away, a response_url works five times', async (t) => {
  const { slack } = await serverAndClient(t);
  const base = slack.url.replace('/api/', '');
  const open = async () => {
    const socket = new WebSocket(slack.socket.newUrl(base));
    t.after(() => socket.terminate());
    const [data] = (await once(socket, 'message')) as [Buffer];
    return JSON.parse(data.toString()) as Json;
  };
  const first = await Promise.all(Array.from({ length: 10 }, open));
  assert.ok(first.every(({ type }) => type === 'hello'));
  assert.deepEqual((await open())['reason'], 'too_many_websockets');

  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const url = slack.responseUrl(room.id);
  const answer = () => fetch(url, { method: 'POST', body: JSON.stringify({ text: 'hi' }) });
  for (let use = 0; use < 5; use++) assert.equal((await answer()).status, 200);
  assert.equal((await answer()).status, 404);
  assert.equal(slack.shown.all().filter(({ kind }) => kind === 'response').length, 5);
});

test('H9 valid Block Kit passes the check', { skip }, () => {
  const folder = ['slackblocks', 'spec', 'fixtures', 'valid'] as const;
  const all = (kind: string) =>
    readdirSync(path.join(corpora, ...folder, kind)).map(
      (file) => [file, read(...folder, kind, file)] as const,
    );
  for (const [file, block] of all('blocks')) assert.deepEqual(checkBlock(block, file), [], file);
  for (const [file, element] of all('elements')) {
    if (!/^(image|url_source|button_style)/.test(file))
      assert.deepEqual(checkElement(element, file), [], file);
  }
  for (const [file, message] of all('messages')) {
    const { blocks } = message as { blocks?: unknown };
    // These fixtures give every block the same id, which Slack refuses in one message.
    const problems = blocks === undefined ? [] : checkBlocks(blocks);
    assert.deepEqual(
      problems.filter((problem) => !problem.startsWith('block_id must be unique')),
      [],
      file,
    );
  }
});

test('H9 every limit of the blocks that the bot builds is kept, to the character', { skip }, () => {
  const limits = read('slackblocks', 'spec', 'limits.json') as Record<
    string,
    Record<string, Record<string, number>>
  >;
  const most = (kind: string, part: string, what = 'max_length') =>
    limits[kind]?.[part]?.[what] ?? assert.fail(`${kind}.${part}`);
  const plain = (length: number) => ({ type: 'plain_text', text: '😀'.repeat(length) });
  const button = { type: 'button', text: plain(1), action_id: 'a' };
  const option = { text: plain(1), value: 'v' };
  const many = <Item>(count: number, item: (index: number) => Item) =>
    Array.from({ length: count }, (_, index) => item(index));
  const edge = (check: (size: number) => readonly string[], limit: number, name: string) => {
    assert.deepEqual(check(limit), [], `${name} at the limit`);
    assert.notDeepEqual(check(limit + 1), [], `${name} over the limit`);
  };
  const text = (length: number) => 'x'.repeat(length);
  const select = { type: 'static_select', action_id: 's' };
  edge((size) => checkText(plain(size), 3000, ''), Number(limits['text']?.['max_length'] ?? 0), 'text');
  edge((size) => checkElement({ ...button, text: plain(size) }, ''), most('button', 'text'), 'button.text');
  edge((size) => checkElement({ ...button, url: text(size) }, ''), most('button', 'url'), 'button.url');
  edge((size) => checkElement({ ...button, value: text(size) }, ''), most('button', 'value'), 'button.value');
  edge((size) => checkElement({ ...button, action_id: text(size) }, ''), 255, 'action_id');
  edge((size) => checkOption({ ...option, text: plain(size) }, ''), most('option', 'text'), 'option.text');
  edge((size) => checkOption({ ...option, value: text(size) }, ''), most('option', 'value'), 'option.value');
  edge(
    (size) => checkOptionGroup({ label: plain(size), options: [option] }, ''),
    most('option_group', 'label'),
    'group',
  );
  edge(
    (size) => checkElement({ ...select, options: many(size, () => option) }, ''),
    most('select', 'options', 'max_items'),
    'select',
  );
  edge(
    (size) => checkElement({ ...select, placeholder: plain(size), options: [option] }, ''),
    most('select', 'placeholder'),
    'placeholder',
  );
  edge(
    (size) => checkElement({ type: 'overflow', options: many(size, () => option) }, ''),
    most('overflow', 'options', 'max_items'),
    'overflow',
  );
  edge(
    (size) => checkElement({ type: 'checkboxes', options: many(size, () => option) }, ''),
    most('checkboxes', 'options', 'max_items'),
    'checkboxes',
  );
  const confirm = { title: plain(1), text: plain(1), confirm: plain(1), deny: plain(1) };
  for (const part of ['title', 'text', 'confirm', 'deny']) {
    edge(
      (size) => checkConfirmation({ ...confirm, [part]: plain(size) }, ''),
      most('confirmation', part),
      part,
    );
  }
  edge(
    (size) =>
      checkBlock(
        { type: 'actions', elements: many(size, (index) => ({ ...button, action_id: `a${index}` })) },
        '',
      ),
    most('actions', 'elements', 'max_items'),
    'actions',
  );
  edge(
    (size) => checkBlock({ type: 'context', elements: many(size, () => plain(1)) }, ''),
    most('context', 'elements', 'max_items'),
    'context',
  );
  edge((size) => checkBlock({ type: 'header', text: plain(size) }, ''), most('header', 'text'), 'header');
  edge(
    (size) => checkBlock({ type: 'markdown', text: text(size) }, ''),
    most('markdown', 'text'),
    'markdown',
  );
  edge((size) => checkBlock({ type: 'section', text: plain(size) }, ''), most('section', 'text'), 'section');
  edge(
    (size) => checkBlock({ type: 'section', fields: many(size, () => plain(1)) }, ''),
    most('section', 'fields', 'max_items'),
    'fields',
  );
  edge(
    (size) => checkBlock({ type: 'section', fields: [plain(size)] }, ''),
    most('section', 'fields', 'item_max_length'),
    'field',
  );
  edge(
    (size) => checkBlock({ type: 'image', alt_text: 'a', image_url: text(size) }, ''),
    most('image', 'image_url'),
    'image_url',
  );
  for (const broken of [
    { type: 'section' },
    { type: 'markdown', text: '' },
    { type: 'actions', elements: [] },
    { type: 'actions', elements: [button, button] },
    { type: 'nonsense' },
    'text',
  ]) {
    assert.notDeepEqual(checkBlock(broken, ''), [], JSON.stringify(broken));
  }
  const half = { type: 'markdown', text: text(6001) };
  assert.notDeepEqual(checkBlocks([half, half]), []);
});
