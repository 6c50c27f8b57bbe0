import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

/** A bot that somebody can talk to. */
async function openTalk(
  t: TestContext,
  toml = '[access]\ndm = "open"\n',
): Promise<Readonly<{ talk(words: string): Promise<void>; pair(): void }>> {
  // As the machine's zone is named nearly everywhere; another one is asked of Intl.
  process.env['TZ'] = 'UTC';
  const { telegram, home } = await startWholeBot(t, {
    toml,
    script: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
  });
  const ann = telegram.person({ name: 'Ann' });
  return {
    async talk(words) {
      const sent = telegram.calls('sendMessage').length;
      ann.says(words);
      await telegram.until('the answer', () => telegram.calls('sendMessage').length > sent);
    },
    pair() {
      const db = new DatabaseSync(path.join(home, 'data', 'skillet.db'));
      const row = db.prepare("INSERT INTO keyed (namespace, key, value) VALUES ('people', ?, ?)");
      row.run(`paired:telegram:${ann.id}`, JSON.stringify({ value: { sender: `telegram:${ann.id}` } }));
      db.close();
    },
  };
}

test('B1 B4 a plain answer makes nothing of Intl: its first date takes 8 MB for good', async (t) => {
  const { talk } = await openTalk(t);
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

test('B1 a plain answer looks up what is set in its chat, and whether its person may have it if config does not say', async (t) => {
  const settings = ['["ID","main agent","model"]', '["ID","main agent","persona"]', '["ID","remember","on"]'];
  for (const { toml, people } of [
    { toml: '[access]\ndm = "open"\n', people: [] },
    { toml: '', people: ['owner:ID', 'paired:ID'] },
  ]) {
    const { talk, pair } = await openTalk(t, toml);
    pair();
    await talk('hello');
    const reads = t.mock.method(StatementSync.prototype, 'all');
    await talk('and this?');
    const keys = reads.mock.calls
      .filter(({ this: statement }) => (statement as StatementSync).sourceSQL.includes('FROM keyed'))
      .map(({ arguments: given }) => (given.at(-1) as unknown as string).replace(/telegram:\d+/, 'ID'));
    reads.mock.restore();
    // The first is whether something waits for their direct message (U16), the last their time zone (U20).
    assert.deepEqual([...new Set(keys)].sort(), ['ID', ...settings, ...people, 'timezone:ID']);
    // When it arrives, when its turn begins, before the model is asked, and before the answer is sent (A9, S11).
    for (const key of people) assert.equal(keys.filter((one) => one === key).length, 4, key);
  }
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
