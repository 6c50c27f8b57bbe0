import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../src/agent/plan-compaction.ts';
import { toMessages } from '../../src/agent/to-messages.ts';
import { createRefusedFiles, withFiles } from '../../src/agent/with-files.ts';
import type { Entry } from '../../src/core/entry.ts';
import { ModelError } from '../../src/core/errors.ts';
import { noTokens, type Model, type ModelRequest } from '../../src/core/model.ts';
import type { ShownFile } from '../../src/core/received.ts';
import { quietLog } from '../support/quiet-log.ts';

type Words = 'about files' | 'too long' | 'too large';

function fileNamed(name: string, more: Partial<ShownFile> = {}): ShownFile {
  return { type: 'image', hash: name, mime: 'image/png', name, size: 3, ...more };
}

function asked(...files: readonly ShownFile[]): Entry {
  return { kind: 'user', sender: 'telegram:42', content: 'look', files, at: 1 };
}

const answered: Entry = {
  kind: 'assistant',
  content: [{ type: 'text', text: 'ok', citations: null }],
  ...{ stopReason: 'end_turn', tokens: noTokens, model: 'm', at: 2 },
};

/** A model that refuses what `refuse` names, and what it was asked. */
function modelOn(
  entries: readonly Entry[],
  options: {
    refuse?: (request: string) => Words | undefined;
    sees?: boolean;
    read?: (file: ShownFile) => Promise<Buffer | undefined>;
  } = {},
) {
  const requests: string[] = [];
  const bare: Model = {
    alias: 'm',
    ...(options.sees === undefined ? {} : { sees: options.sees }),
    async complete({ messages }) {
      const text = JSON.stringify(messages);
      requests.push(text);
      const why = options.refuse?.(text);
      if (why !== undefined) {
        const flags = {
          'about files': { aboutFiles: true },
          'too long': { tooLong: true },
          'too large': { tooLong: true, tooLarge: true },
        }[why];
        throw new ModelError('no', {
          sentence: why,
          passing: false,
          said: 'it is 9,000 pixels wide',
          ...flags,
        });
      }
      return { content: [], stopReason: 'end_turn', tokens: noTokens, model: 'm' };
    },
  };
  const { read = async ({ name }) => Buffer.from(name.slice(0, 3)) } = options;
  const model = withFiles(bare, { read, refused: createRefusedFiles(), log: quietLog() });
  const request: ModelRequest = { system: [], messages: toMessages(entries), tools: [] };
  const ask = () => model.complete(request, new AbortController().signal);
  return { ask, requests };
}

const base64 = (name: string): string => Buffer.from(name.slice(0, 3)).toString('base64');

test('M12 a picture stands before the words, its bytes in base64', async () => {
  const { ask, requests } = modelOn([asked(fileNamed('cat'))]);
  await ask();
  assert.deepEqual(JSON.parse(requests[0]!), [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64('cat') } },
        { type: 'text', text: 'look' },
      ],
    },
  ]);
});

test('M12 a file that is gone, or not as it was, is words', async () => {
  for (const bytes of [undefined, Buffer.from('other')]) {
    const { ask, requests } = modelOn([asked(fileNamed('cat'))], { read: async () => bytes });
    await ask();
    assert.match(requests[0]!, /The picture cat stood here and is no longer kept/);
  }
});

test('M12 a model that sees nothing is told so, and no file is read for it', async () => {
  const read = (): Promise<Buffer> => assert.fail('nothing is read');
  const { ask, requests } = modelOn([asked(fileNamed('cat', { type: 'document' }))], { sees: false, read });
  await ask();
  assert.match(requests[0]!, /The document cat stood here and can not be seen by this language model/);
});

test('M12 of several files only the newest are taken for refused, once and for all', async () => {
  const refuse = (request: string): Words | undefined =>
    request.includes(base64('bad')) ? 'about files' : undefined;
  const { ask, requests } = modelOn([asked(fileNamed('cat')), answered, asked(fileNamed('bad'))], { refuse });
  await ask();
  await ask();
  assert.equal(requests.length, 3, 'the second time it is known');
  for (const request of requests.slice(1)) {
    assert.ok(request.includes(base64('cat')));
    assert.match(request, /The picture bad stood here and was refused/);
  }
});

test('M12 a refusal that has nothing to do with files stays one', async () => {
  const { ask, requests } = modelOn([asked()], { refuse: () => 'about files' });
  await assert.rejects(ask(), ModelError);
  assert.equal(requests.length, 1);
});

test('M12 M3 a document that is longer than the window becomes words; a long conversation is left to its summary', async () => {
  const refuse = (request: string): Words | undefined =>
    request.includes(base64('book')) ? 'too long' : undefined;
  const book = fileNamed('book', { type: 'document', size: 3 });
  const alone = modelOn([asked(book)], { refuse });
  await alone.ask();
  assert.match(alone.requests[1]!, /The document book stood here and was refused/);
  const long: Entry = { kind: 'user', content: 'word '.repeat(20_000), at: 1 };
  await assert.rejects(modelOn([long, answered, asked(book)], { refuse }).ask(), ModelError);
});

test('M12 of a request with too many bytes the older files are left out first, and no word', async () => {
  const words: Entry = { kind: 'user', content: 'word '.repeat(20_000), at: 1 };
  const entries = [words, answered, asked(fileNamed('one')), answered, asked(fileNamed('two'))];
  const most =
    (count: number) =>
    (request: string): Words | undefined =>
      request.split('"base64"').length - 1 > count ? 'too large' : undefined;
  const one = modelOn(entries, { refuse: most(1) });
  await one.ask();
  assert.equal(one.requests.length, 2);
  assert.match(one.requests[1]!, /The picture one stood here and was refused/);
  assert.ok(one.requests[1]!.includes(base64('two')));
  const none = modelOn(entries, { refuse: most(0) });
  await none.ask();
  assert.match(none.requests[2]!, /The picture two stood here and was refused/);
  await assert.rejects(modelOn(entries, { refuse: () => 'too large' }).ask(), ModelError);
});

test('M12 M13 with the 21st picture every one before it becomes words, and in between requests only grow', () => {
  const entries: Entry[] = [];
  let changes = 0;
  let before = '';
  for (let index = 0; index < 45; index++) {
    entries.push(asked(fileNamed(`f${index}`)), answered);
    const now = JSON.stringify(toMessages(entries)).slice(0, -1);
    const shown = now.split('"type":"image","source"').length - 1;
    assert.ok(shown >= 1 && shown <= 20, String(shown));
    if (!now.startsWith(before)) changes += 1;
    before = now;
  }
  assert.equal(changes, 2);
});

test('M12 more than 20 MB are never shown together', () => {
  const large = (name: string) => asked(fileNamed(name, { type: 'document', size: 12_000_000 }));
  const text = JSON.stringify(toMessages([large('one'), answered, large('two')]));
  assert.match(text, /The document one stood here and is not shown any more/);
  assert.match(text, /"type":"document"[^]*"name":"two"/);
});

test('M9 M12 a file counts as much on an entry as in a request, by its kind and size', () => {
  for (const file of [fileNamed('a'), fileNamed('b', { type: 'document', size: 900_000 })]) {
    const [message] = toMessages([asked(file)]);
    const [block] = message!.content as readonly object[];
    assert.equal(estimateTokens(block), estimateTokens(file));
  }
  assert.equal(estimateTokens(fileNamed('a')), 1_600);
  assert.equal(estimateTokens(fileNamed('b', { type: 'document', size: 900_000 })), 30_000);
});

test('M9 a long text counts by its characters, however plain it is', () => {
  const plain = 'a'.repeat(1_000);
  const counts = [plain, `${plain}é`, `${plain}日`, { text: plain }].map(estimateTokens);
  assert.deepEqual(counts, [250, 251, 251, 253]);
});

test('M12 what is not shown is not said to be shown above, and a refusal tells what the model said', async () => {
  const told = (name: string): string => `[photo "p.jpg", PNG image, 3 bytes, at /chat/${name}, shown above]`;
  const entry = (...names: readonly string[]): Entry => ({
    kind: 'user',
    content: `look\n${names.map(told).join('\n')}`,
    files: names.map((name) => fileNamed(name)),
    at: 1,
  });
  const refuse = (request: string): Words | undefined =>
    request.includes(base64('bad')) ? 'about files' : undefined;
  const { ask, requests } = modelOn([entry('cat.png'), answered, entry('bad.png')], { refuse });
  await ask();
  const sent = requests.at(-1) ?? '';
  assert.match(
    sent,
    /The picture bad\.png stood here and was refused by this language model: it is 9,000 pixels wide\./,
  );
  assert.ok(sent.includes('/chat/cat.png, shown above]') && sent.includes('/chat/bad.png]'), sent);
  const blind = modelOn([entry('cat.png')], { sees: false });
  await blind.ask();
  assert.ok(blind.requests[0]?.includes('/chat/cat.png]'));
  const many = Array.from({ length: 21 }, (_, at) => entry(`${at}.png`));
  const older = modelOn(many);
  await older.ask();
  assert.ok(older.requests[0]?.includes('/chat/0.png]'));
  assert.ok(older.requests[0]?.includes('/chat/20.png, shown above]'));
});
