import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

/** A bot that somebody can talk to. */
async function openTalk(t: TestContext): Promise<(words: string) => Promise<void>> {
  // As the machine's zone is named nearly everywhere; another one is asked of Intl.
  process.env['TZ'] = 'UTC';
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
  });
  const ann = telegram.person({ name: 'Ann' });
  return async (words) => {
    const sent = telegram.calls('sendMessage').length;
    ann.says(words);
    await telegram.until('the answer', () => telegram.calls('sendMessage').length > sent);
  };
}

test('B1 B4 a plain answer makes nothing of Intl: its first date takes 8 MB for good', async (t) => {
  const talk = await openTalk(t);
  const made = ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'Segmenter'].map((name) =>
    t.mock.method(Intl, name as 'DateTimeFormat'),
  );
  await talk('hello');
  await talk('and this?');
  assert.deepEqual(
    made.map(({ mock }) => mock.callCount()),
    made.map(() => 0),
  );
});

test('B1 a plain answer looks up whether its person may have it, and what is set in its chat', async (t) => {
  const talk = await openTalk(t);
  await talk('hello');
  const reads = t.mock.method(StatementSync.prototype, 'all');
  await talk('and this?');
  const keys = reads.mock.calls
    .filter(({ this: statement }) => (statement as StatementSync).sourceSQL.includes('FROM keyed'))
    .map(({ arguments: given }) => (given.at(-1) as unknown as string).replace(/telegram:\d+/, 'ID'));
  assert.deepEqual([...new Set(keys)].sort(), [
    '["ID","main agent","model"]',
    '["ID","main agent","persona"]',
    '["ID","remember","on"]',
    'owner:ID',
    'paired:ID',
  ]);
  // When it arrives, when its turn begins, before the model is asked, and before the answer is sent (A9, S11).
  assert.equal(keys.filter((key) => key.startsWith('paired:')).length, 4);
});

test('B1 K4 notes that were shown today are not written again', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('tool_result') || messages.length > 1
        ? { content: [{ type: 'text', text: 'Fine.' }] }
        : {
            content: [
              { type: 'tool_use', id: 'toolu_1', name: 'remember', input: { text: 'Ann likes green tea.' } },
            ],
          },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('Remember that Ann likes green tea.');
  await ann.dm.nextMessage(/Noted: Ann likes green tea/);
  const reads = t.mock.method(StatementSync.prototype, 'all');
  const writes = t.mock.method(StatementSync.prototype, 'run');
  ann.says('hello');
  await ann.dm.nextMessage(/Fine/);
  const textsOf = ({ mock }: typeof reads | typeof writes) =>
    mock.calls.map(({ this: statement }) => (statement as StatementSync).sourceSQL);
  assert.ok(textsOf(reads).some((sql) => sql.includes('FROM memories')));
  assert.deepEqual(
    textsOf(writes).filter((sql) => sql.includes('memories')),
    [],
  );
});
