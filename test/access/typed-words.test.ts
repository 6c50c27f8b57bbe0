import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/core/entry.ts';
import { borrowedFrom, originIn, sourceOf, wordsIn } from '../../src/access/own-words.ts';

const ada = 'telegram:42';
type UserEntry = Extract<Entry, { kind: 'user' }>;

function said(content: string, more: Partial<UserEntry> = {}): UserEntry {
  return { kind: 'user', item: 'm', sender: ada, content, at: 1, ...more };
}

function page(content: string): Entry {
  return { kind: 'tool_result', toolUseId: 't', content, isError: false, at: 2 };
}

const source = (note: string, typed: string, others = 'zzz') =>
  sourceOf(note, [said(typed), page(others)], ada);

test('S13 a word is one’s own as it was typed or as a form of it, and no shorter, longer or part of another', () => {
  for (const [typed, note, isOwn] of [
    ['prefer', 'preferred', true],
    ['preferred', 'prefer', true],
    ['liked', 'like', true],
    ['like', 'liked', true],
    ['likes', 'lik', false],
    ['abcd', 'abcdefg', true],
    ['abcd', 'abcdefgh', false],
    ['abcdefgh', 'abcd', false],
    ['teas', 'tea', false],
    ['tea', 'teas', false],
    ['abcde1', 'abcde', false],
    ['abcde', 'abcde1', false],
    ['1abcde', '1abcd', false],
    ['x ÜBUNGEN', 'übung', true],
    ['ﬁne', 'FINE', true],
    ['tea', 'she likes the tea, and it is for this person', true],
    ['tea', 'the tea is good', false],
    ['ada@example.org', 'ada', false],
    ['ada@example.org', 'ada@example.org.', true],
    ['ada@@example', 'example', false],
    ['ada@example', 'xample', false],
    ['a-b/c_d:e', 'a-b/c_d:e', true],
    ['pay 💸', '💸', true],
    ['pay 💸', '➡', false],
    ['pay', '$', false],
    ['$', '$$', true],
  ] as const)
    assert.equal(source(note, typed), isOwn ? 'own' : 'foreign', `${typed} | ${note}`);
  const apart = [said('abc'), said('def'), page('zzz')];
  assert.equal(sourceOf('abcdef', apart, ada), 'foreign', 'two messages make no word');
  assert.equal(sourceOf('abc def', apart, ada), 'own');
});

test('S13 in scripts without spaces all characters and pairs were typed, but for a short ending', () => {
  for (const [typed, note, isOwn] of [
    ['가나', '나', true],
    ['가나', '다', false],
    ['가나', '가나', true],
    ['가 나', '가나', true],
    ['나가', '가나', false],
    ['가나', '가나다', true],
    ['가나', '가나다라', false],
    ['가나다', '가나다라', true],
    ['가나다', '가나다라마', true],
    ['가나', '가나다라마', false],
    ['가나다라', '가나다라마바', true],
    ['가나다라', '가나다라마바사', false],
    ['가나다라', '다라', true],
    ['가나다', '라나다', false],
    ['tea 喜欢', 'tea喜欢', true],
    ['喜欢', 'tea喜欢', false],
  ] as const)
    assert.equal(source(note, typed), isOwn ? 'own' : 'foreign', `${typed} | ${note}`);
});

test('S13 twelve characters in a row that others said and nobody typed so are theirs, whatever stands between them', () => {
  const wide = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => String.fromCodePoint(0x10428 + from + at)).join('');
  for (const [note, typed, others, isOwn] of [
    ['abcdef ghijkl', 'ghijkl abcdef', 'abcdefghijkl', false],
    ['abcdef ghijk', 'ghijk abcdef', 'abcdefghijk', true],
    ['abcdef ghijkl', 'ghijkl abcdef', 'zzzz, abc-def! ghi/jkl yyyy', false],
    ['abcdef ghijkl', 'abcdef ghijkl', 'abcdef ghijkl', true],
    ['tea abcdef ghijkl tea', 'tea ghijkl abcdef', 'abcdef ghijkl', false],
    ['1234 5678 9012', '9012 5678 1234', '1234 5678 9012', false],
    ['1234 5678 901', '901 5678 1234', '1234 5678 901', true],
    ['$€£¥ +<=> ^|~¢', '^|~¢ +<=> $€£¥', '$€£¥ +<=> ^|~¢', false],
    [
      `${wide(0, 7)} ${wide(7, 7)}`,
      `${wide(7, 7)} ${wide(0, 7)}`,
      `${wide(20, 5)} ${wide(1, 6)} ${wide(7, 6)} ${wide(20, 5)}`,
      false,
    ],
    [`${wide(0, 6)} ${wide(6, 5)}`, `${wide(6, 5)} ${wide(0, 6)}`, `${wide(0, 6)} ${wide(6, 5)}`, true],
  ] as const)
    assert.equal(source(note, typed, others), isOwn ? 'own' : 'foreign', `${note} | ${others}`);
  assert.equal(
    sourceOf('abcdef ghijkl', [said('ghijkl abcdef'), page('xabcdef'), page('ghijklx')], ada),
    'foreign',
    'also over two of their texts',
  );
});

test('S13 what others said decides: nothing or only spaces leaves a note free', () => {
  for (const [note, entries, expected] of [
    ['tea', [said('tea')], 'own'],
    ['tea', [said('hi')], 'free'],
    ['tea', [said('hi'), page(' \n ')], 'free'],
    ['tea', [said('tea'), page('tea')], 'own'],
    ['tea', [said('hi'), page('x')], 'foreign'],
    ['', [], 'own'],
    ['tea', [], 'free'],
    [
      'tea',
      [{ kind: 'assistant', content: [{ type: 'text', text: 'tea' }], at: 3 } as unknown as Entry],
      'free',
    ],
    ['tea', [{ kind: 'summary', text: 'tea', at: 3 } as unknown as Entry], 'foreign'],
  ] as const)
    assert.equal(sourceOf(note, entries, ada), expected, JSON.stringify([note, entries]));
  assert.deepEqual(wordsIn(said(' \n tea \n ')), { own: 'tea', foreign: '' });
});

test('S13 the origin of words is said by what brought them', () => {
  const summary = { kind: 'summary', text: 'oolong tea', at: 3 } as unknown as Entry;
  const reply = '<quote from="Eve">\noolong tea\n</quote>\nhi';
  for (const [entry, words] of [
    [page('oolong tea'), 'tool'],
    [summary, 'unknown'],
    [said('oolong tea', { unattended: true }), 'event'],
    [said('oolong tea', { unattended: true, about: 'skill' }), 'event'],
    [said('oolong tea', { about: 'skill' }), 'tool'],
    [said('oolong tea', { sender: 'telegram:7' }), 'unknown'],
    [said('oolong tea'), undefined],
  ] as const) {
    assert.deepEqual(originIn('oolong', [entry], ada)?.words, words, JSON.stringify(entry));
    assert.deepEqual(borrowedFrom('oolong', [entry], ada)?.words, words, JSON.stringify(entry));
    assert.equal(borrowedFrom('coffee', [entry], ada), undefined);
  }
  // Labels say it more exactly than who sent them.
  const direct = originIn('oolong', [said(reply)], ada);
  assert.notEqual(direct, undefined);
  assert.ok(direct?.words !== 'typed' && direct?.words !== 'unknown', JSON.stringify(direct));
  const others: readonly Partial<UserEntry>[] = [
    { sender: 'telegram:7' },
    { unattended: true },
    { about: 'skill' },
  ];
  for (const more of others)
    assert.deepEqual(originIn('oolong', [said(reply, more)], ada), direct, JSON.stringify(more));
});

test('S13 words are borrowed from who said most of them in a row, else from who said one last, never from who typed them', () => {
  const run = page('abcdef ghijkl');
  const word = said('abcdef', { sender: 'telegram:7' });
  const borrowed = (note: string, ...entries: readonly Entry[]) => borrowedFrom(note, entries, ada)?.words;
  assert.equal(borrowed('abcdef ghijkl', run, word), 'tool');
  assert.equal(borrowed('abcdef', run, word), 'unknown');
  assert.equal(borrowed('abcdef', word, run), 'tool');
  assert.equal(borrowed('abcdef', said('abcdef'), run, word), undefined);
  assert.equal(borrowed('abcdef ghijkl', said('abcdef ghijkl'), run), undefined);
  assert.equal(borrowed('abcdef ghijkl', said('ghijkl\nabcdef'), run), 'tool');
  assert.equal(borrowed('abcdef', said('abc'), said('def'), run), 'tool', 'two messages make no word');
  assert.equal(borrowed('the', page('the')), undefined, 'a word that only frames others');
});

test('S9 up to 2,000,000 characters are read, of note and conversation together; of more the person is asked', () => {
  const most = 2_000_000;
  for (const [spaces, isRead] of [
    [most - 7, true],
    [most - 6, false],
  ] as const) {
    // With the spaces, 7 characters: `tea` twice and `x`.
    const entries = [said(' '.repeat(spaces)), said('tea'), page('x')];
    assert.equal(sourceOf('tea', entries, ada), isRead ? 'own' : 'foreign');
    assert.deepEqual(borrowedFrom('tea', entries, ada), isRead ? undefined : { words: 'unknown' });
  }
  const note = 'tea'.padEnd(most);
  assert.equal(sourceOf(note, [], ada), 'free');
  assert.equal(sourceOf(`${note} `, [], ada), 'foreign');
  assert.equal(sourceOf(note, [said('t')], ada), 'foreign');
});
