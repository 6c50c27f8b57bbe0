import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { webApi } from '@slack/bolt';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';

type Json = Readonly<Record<string, unknown>>;

/** Slack's own client at a server, and a question in a direct message with it. */
async function asked(t: TestContext) {
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const quiet = (): undefined => undefined;
  const client = new webApi.WebClient(slack.tokens.bot, {
    slackApiUrl: slack.url,
    retryConfig: { retries: 0 },
    logger: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: quiet,
      setLevel: quiet,
      setName: quiet,
      getLevel: () => webApi.LogLevel.ERROR,
    },
  });
  const anna = slack.workspace.addUser('anna');
  const channel = slack.workspace.dmWith(anna.id).id;
  const { ts } = slack.people.dm(anna, 'go');
  const call = (method: string, args: Json): Promise<Json> =>
    client.apiCall(method, { channel, ...args }).then(
      (answer) => ({ ...answer }),
      (error: unknown) => (error instanceof webApi.WebAPIPlatformError ? { ...error.data } : { error }),
    );
  const codeOf = async (method: string, args: Json): Promise<unknown> =>
    (await call(method, args))['error'] ?? 'ok';
  return { slack, client, channel, ts, call, codeOf };
}

const task = (status: string, more: Json = {}): Json => ({
  type: 'task_update',
  id: 'a',
  title: 'Web search',
  status,
  ...more,
});

test('U18 H9 a stream takes plans, tasks and words as chunks, and shows the newest of each', async (t) => {
  const { slack, client, channel, ts } = await asked(t);
  const started = await client.chat.startStream({
    channel,
    thread_ts: ts,
    task_display_mode: 'plan',
    chunks: [
      { type: 'plan_update', title: 'Looking' } as const,
      { type: 'task_update', id: 'a', title: 'Web search', status: 'in_progress' } as const,
    ],
  });
  const stream = { channel, ts: started.ts ?? assert.fail() };
  const message = () => slack.workspace.message(channel, stream.ts) ?? assert.fail();
  assert.deepEqual(message().plan, {
    title: 'Looking',
    tasks: [{ id: 'a', title: 'Web search', status: 'in_progress' }],
  });
  await client.chat.appendStream({
    ...stream,
    chunks: [
      { type: 'task_update', id: 'b', title: 'Notes', status: 'pending' } as const,
      { type: 'task_update', id: 'a', title: 'Web search', status: 'complete' } as const,
      { type: 'markdown_text', text: 'It is so' } as const,
    ],
  });
  await client.chat.stopStream({ ...stream, chunks: [{ type: 'plan_update', title: 'Done' } as const] });
  assert.deepEqual(
    [message().text, message().plan?.title, message().plan?.tasks.map(({ id, status }) => `${id} ${status}`)],
    ['It is so', 'Done', ['a complete', 'b pending']],
  );
});

test('U18 H9 Slack refuses wrong chunks, and a stream that changes its kind', async (t) => {
  const { ts, call, codeOf } = await asked(t);
  const start = (args: Json) => codeOf('chat.startStream', { thread_ts: ts, ...args });
  const words = { type: 'markdown_text', text: 'x' };
  for (const chunks of [
    'no list',
    [{ type: 'task', id: 'a' }],
    [{ type: 'markdown_text' }],
    [{ type: 'plan_update', title: '' }],
    [{ type: 'plan_update', title: 'x'.repeat(257) }],
    [task('done')],
    [task('complete', { id: undefined })],
    [task('complete', { icon: 'x' })],
    [task('complete', { details: 'x'.repeat(257) })],
    [{ type: 'blocks', blocks: [{ type: 'no such block' }] }],
  ])
    assert.equal(await start({ chunks }), 'invalid_chunks', JSON.stringify(chunks));
  assert.equal(await start({ task_display_mode: 'list', chunks: [words] }), 'invalid_arguments');
  const both = { markdown_text: 'x', chunks: [words] };
  assert.equal(await start(both), 'cannot_provide_both_markdown_text_and_chunks');
  for (const [first, second] of [
    [{ markdown_text: 'x' }, { chunks: [words] }],
    [{ chunks: [words] }, { markdown_text: 'x' }],
  ] as const) {
    const { ts: stream } = await call('chat.startStream', { thread_ts: ts, ...first });
    assert.equal(await codeOf('chat.appendStream', { ts: stream, ...second }), 'streaming_mode_mismatch');
    assert.equal(await codeOf('chat.appendStream', { ts: stream }), 'no_text');
    assert.equal(await codeOf('chat.appendStream', { ts: stream, ...first }), 'ok');
  }
});

const card = (more: Json = {}): Json => ({
  type: 'task_card',
  task_id: 'a',
  title: 'Web search',
  status: 'complete',
  ...more,
});
const cell = (words: string): Json => ({ type: 'raw_text', text: words });
const rich = (elements: readonly Json[]): Json => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
const table = (rows: unknown, more: Json = {}): Json => ({
  type: 'data_table',
  caption: 'Cities',
  rows,
  ...more,
});
const two = [
  [cell('City'), cell('People')],
  [cell('Bonn'), { type: 'raw_number', value: 3, text: '3' }],
];

test('U18 H9 plans and data tables are held to their reference', async (t) => {
  const { codeOf } = await asked(t);
  const post = (...blocks: readonly Json[]) => codeOf('chat.postMessage', { text: 'x', blocks });
  const row = (length: number) => Array.from({ length }, (_, at) => cell(String(at)));
  const link = rich([{ type: 'link', url: 'https://example.com', text: 'here' }]);
  for (const block of [
    { type: 'plan', title: 'Steps', tasks: [card(), card({ task_id: 'b', status: 'error' })] },
    { type: 'plan', title: 'Steps' },
    card({ details: rich([{ type: 'text', text: 'x' }]) }),
    table(two, { page_size: 100, row_header_column_index: 1 }),
    table([row(20), ...Array.from({ length: 100 }, () => row(20))]),
    table([[cell('City')], [link]]),
  ])
    assert.equal(await post(block), 'ok', JSON.stringify(block).slice(0, 200));
  for (const block of [
    { type: 'plan', tasks: [card()] },
    { type: 'plan', title: 'Steps', tasks: [card(), card()] },
    { type: 'plan', title: 'Steps', tasks: [{ type: 'section' }] },
    card({ status: 'running' }),
    card({ title: '' }),
    card({ details: 'x' }),
    table(two, { caption: undefined }),
    table(two, { page_size: 101 }),
    table(two, { row_header_column_index: 2 }),
    table([[cell('City')]]),
    table([row(21), row(21)]),
    table([row(2), row(1)]),
    table([row(1), ...Array.from({ length: 101 }, () => row(1))]),
    table([[link], [cell('Bonn')]]),
    table([[cell('City')], [cell('')]]),
    table([[cell('City')], [{ type: 'raw_number', text: '3' }]]),
    table([[cell('City')], [cell('x'.repeat(10_000))]]),
  ])
    assert.equal(await post(block), 'invalid_blocks', JSON.stringify(block).slice(0, 200));
  const half = table([[cell('City')], [cell('x'.repeat(5_000))]]);
  assert.equal(await post(half), 'ok');
  assert.equal(await post(half, half), 'invalid_blocks');
});
