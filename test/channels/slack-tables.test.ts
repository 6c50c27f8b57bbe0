import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';

type Json = Readonly<Record<string, unknown>>;

/** Sends Markdown to Anna, and returns the message that she gets. */
async function sent(t: TestContext, markdown: string, agentView = true) {
  const { slack, channel } = await connectSlackChannel(t, { channel: { agentView } });
  const anna = slack.workspace.addUser('anna');
  const asked = slack.people.dm(anna, 'which cities?');
  await asked.delivered;
  const place = { channel: 'slack', chat: asked.channel, thread: asked.ts };
  const { id } = await channel.send(place, { markdown }, 'key');
  const message = slack.workspace.message(asked.channel, id) ?? assert.fail();
  const kinds = (message.blocks ?? []).map(({ type }) => type);
  return { slack, channel, place, id, message, kinds };
}

const tableOf = (rows: number, columns: number, cell = 'x'): string =>
  [
    `|${' c |'.repeat(columns)}`,
    `|${'---|'.repeat(columns)}`,
    ...Array.from({ length: rows }, () => `|${` ${cell} |`.repeat(columns)}`),
  ].join('\n');

test('U18 with Slack’s agent view a table is a block that people can sort, and the text says it too', async (t) => {
  const { message, kinds } = await sent(
    t,
    'Two cities:\n\n| City | People | More |\n|---|---:|---|\n| **Bonn** | 330000 | [site](https://bonn.example) & `x` |\n| Köln @here | 1.08 |\n\nThat is all.',
  );
  assert.deepEqual(kinds, ['markdown', 'data_table', 'markdown']);
  const table = message.blocks?.[1] ?? assert.fail();
  assert.deepEqual([table['caption'], table['page_size']], ['City, People, More', 2]);
  const text = (words: string, style?: Json): Json =>
    style === undefined ? { type: 'text', text: words } : { type: 'text', text: words, style };
  const rich = (...elements: readonly Json[]): Json => ({
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements }],
  });
  const raw = (words: string): Json => ({ type: 'raw_text', text: words });
  assert.deepEqual(table['rows'], [
    [raw('City'), raw('People'), raw('More')],
    [
      rich(text('Bonn', { bold: true })),
      { type: 'raw_number', value: 330_000, text: '330000' },
      rich(
        { type: 'link', url: 'https://bonn.example/', text: 'site' },
        text(' & '),
        text('x', { code: true }),
      ),
    ],
    [raw('Köln @\u2060here'), { type: 'raw_number', value: 1.08, text: '1.08' }, raw('–')],
  ]);
  for (const word of ['Two cities:', 'Bonn', '330000', 'site', 'That is all.'])
    assert.ok(message.text.includes(word), word);
});

test('U18 a table that Slack takes no block of goes as before, and so do all without the agent view', async (t) => {
  const fits = [tableOf(1, 1), tableOf(100, 20, 'ab'), `${tableOf(2, 2)}\n\n${tableOf(3, 3)}`];
  for (const markdown of fits) assert.ok((await sent(t, markdown)).kinds.includes('data_table'), markdown);
  for (const markdown of [
    tableOf(2, 21),
    tableOf(101, 2),
    tableOf(10, 10, 'x'.repeat(100)),
    Array.from({ length: 3 }, () => tableOf(10, 10, 'x'.repeat(35))).join('\n\n'),
    `| a |\n|---|`,
  ]) {
    const { slack, kinds } = await sent(t, markdown);
    assert.ok(!kinds.includes('data_table'), markdown.slice(0, 80));
    // It was not tried either: Slack refused no blocks.
    const posts = slack.calls.all().filter(({ method }) => method === 'chat.postMessage');
    assert.equal(posts.length, 1, markdown.slice(0, 80));
  }
  assert.deepEqual((await sent(t, tableOf(2, 2), false)).kinds, ['markdown']);
});

test('U18 an answer that is edited gets its table, and a workspace without such blocks gets text', async (t) => {
  const { slack, channel, place, id, message } = await sent(t, 'A moment.');
  await channel.edit(place, { id }, { markdown: tableOf(2, 2) });
  assert.deepEqual(
    message.blocks?.map(({ type }) => type),
    ['data_table'],
  );
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'invalid_blocks' });
  const plain = await channel.send(place, { markdown: tableOf(2, 2, 'Bonn') }, 'another');
  const got = slack.workspace.message(place.chat, plain.id);
  assert.equal(got?.blocks, undefined);
  assert.match(got?.text ?? '', /Bonn/);
});
