import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextForRun } from '../../src/runs/run-prompt.ts';
import { userContent } from '../../src/runs/user-content.ts';
import type { Entry } from '../../src/core/entry.ts';
import { labelled, truncateLabelled } from '../../src/lib/text/escape-labels.ts';
import { noTokens } from '../../src/core/model.ts';
import { makeMessage } from '../support/make-message.ts';

const nothing = { entries: [], background: [], viewer: undefined } as const;
const group = { conversation: { channel: 'telegram', chat: '-5' }, chatType: 'group' } as const;

function said(text: string): Entry {
  return { kind: 'user', sender: 'telegram:42', content: text, at: 1 };
}

function answered(text: string, stopReason: 'end_turn' | 'tool_use' = 'end_turn'): Entry {
  const content = [{ type: 'text' as const, text, citations: null }];
  return { kind: 'assistant', content, stopReason, tokens: noTokens, model: 'm', at: 2 };
}

test('I1 a run is told nothing where nothing is pointed at', () => {
  const ofBooks = { ...nothing, words: 'nine words that say all that there is said', entries: [said('hi')] };
  assert.equal(contextForRun(makeMessage(), ofBooks), undefined);
  assert.equal(contextForRun(makeMessage(), { ...nothing, words: 'the above' }), undefined);
});

test('I1 M11 files, forwards and the message replied to are told with their authors', () => {
  const message = makeMessage({
    replyTo: { name: 'Ben', sender: 'telegram:43', own: false, text: 'Buy <quote>tea</quote>' },
    shared: [{ name: 'News', own: false, text: 'Rain', note: 'forwarded' }],
    attachments: [{ kind: 'photo', name: 'a.jpg' }],
  });
  const text = { text: 'long', whole: true };
  const got = { ok: true, path: '/chat/a.jpg', words: 'JPEG image', size: 9, text } as const;
  const context = contextForRun(message, {
    ...{ ...nothing, words: 'this', entries: [said('not this')] },
    received: () => got,
  });
  assert.equal(
    context,
    [
      '<quote from="Ben" id="telegram:43">\nBuy &lt;quote>tea&lt;/quote>\n</quote>',
      '<quote from="News" note="forwarded">\nRain\n</quote>',
      '<host>\nAttached:\n[photo "a.jpg", JPEG image, 9 bytes, at /chat/a.jpg, its text follows]\n</host>',
      '<file name="a.jpg" from="Ada" id="telegram:42">\nlong\n</file>',
    ].join('\n'),
  );
});

test('M12 of many long files a run is told the beginnings, and where all of them lie', () => {
  const names = Array.from({ length: 10 }, (_, index) => `${index}.csv`);
  const message = makeMessage({ attachments: names.map((name) => ({ kind: 'document', name })) });
  const context = contextForRun(message, {
    ...{ ...nothing, words: 'sum them up' },
    received: ({ name }) => {
      const text = { text: name.repeat(5_000), whole: true };
      return { ok: true, path: `/chat/${name}`, words: 'text', size: 9, text };
    },
  });
  for (const name of names) {
    assert.match(context ?? '', new RegExp(`at /chat/${name}, its beginning follows`));
    assert.match(context ?? '', new RegExp(`<file name="${name}"[^>]*>\n(?:${name}){50}`));
  }
});

test('I1 of what was said before, people and answers count, and work on the way does not', () => {
  const entries: Entry[] = [
    said(userContent(makeMessage({ text: 'What is tea?' }), { background: [], today: '2026-01-01' })),
    answered('I look it up.', 'tool_use'),
    { kind: 'tool_result', toolUseId: 'c', content: 'RAW', isError: false, at: 2 },
    { kind: 'user', item: 'x#skill', content: 'RESULT', about: 'lookup', at: 2 },
    { kind: 'user', sender: 'telegram:42', content: 'RESULT', about: 'lookup', at: 2 },
    answered('Leaves in water.'),
  ];
  assert.equal(
    contextForRun(makeMessage(), { ...nothing, words: 'the above', entries }),
    '<background from="the person">\nWhat is tea?\n</background>\n<quote from="the bot">\nLeaves in water.\n</quote>',
  );
});

test('I1 M12 a run is not told that files of earlier messages are shown above, but where they lie', () => {
  const picture = { kind: 'photo', name: 'a.jpg' } as const;
  const shown = { type: 'image', hash: 'h', mime: 'image/jpeg', name: 'a.jpg', size: 9 } as const;
  const received = () => ({ ok: true, path: '/chat/a.jpg', words: 'JPEG image', size: 9, shown }) as const;
  const before = userContent(makeMessage({ ...group, attachments: [picture] }), {
    background: [makeMessage({ ...group, attachments: [picture] })],
    received,
  });
  assert.equal(before.match(/, shown above\]/g)?.length, 2);
  const told = contextForRun(makeMessage({ ...group, attachments: [picture] }), {
    ...{ ...nothing, words: 'this', entries: [said(before)], received },
  });
  assert.equal(told?.match(/\[photo "a\.jpg", JPEG image, 9 bytes, at \/chat\/a\.jpg\]/g)?.length, 2);
  assert.equal(told?.match(/, shown above\]/g)?.length, 1, 'what comes with the call is shown');
});

test('I1 at most 20 messages and 10,000 characters are told, the newest, and labels stay whole', () => {
  const heard = (n: number, text = `line ${n}.`) =>
    makeMessage({ ...group, id: `m${n}`, text, sender: { id: `telegram:${n}`, name: 'N', kind: 'person' } });
  const told = (background: readonly ReturnType<typeof heard>[]): string =>
    contextForRun(makeMessage(group), { ...nothing, words: 'the above', background }) ?? '';
  const many = told(Array.from({ length: 30 }, (_, n) => heard(n)));
  assert.equal(many.match(/<message /g)?.length, 20);
  assert.match(many, /line 29\.\n<\/message>$/);
  const long = told([heard(1, `first ${'a '.repeat(9_000)}`), heard(2, 'b '.repeat(3_000)), heard(3)]);
  assert.ok(long.length <= 10_000, String(long.length));
  assert.match(
    long,
    /^<message from="N" id="telegram:1">\nfirst a[^]*\[cut: \d+[^\n]*\n<\/message>\n<message[^]*line 3/,
  );
  const full = told([heard(1, 'line 1 '.repeat(50)), heard(2, 'b '.repeat(4_900))]);
  assert.doesNotMatch(full, /line 1/);
});

test('I1 a text with labels is cut with all of them closed, wherever the cut falls', () => {
  const inner = labelled('quote', 'word '.repeat(200), { from: 'Ben', id: 'telegram:43' });
  const whole = `<background from="x">\n${inner}\n${inner}\n</background>`;
  for (let limit = 500; limit < whole.length; limit++) {
    const cut = truncateLabelled(whole, limit);
    assert.ok(cut.length <= limit);
    for (const label of ['quote', 'background'])
      assert.equal(
        cut.match(new RegExp(`<${label}[ >]`, 'g'))?.length,
        cut.match(new RegExp(`</${label}>`, 'g'))?.length,
        `${limit}`,
      );
  }
  assert.equal(truncateLabelled(whole, 499), '');
  assert.equal(truncateLabelled(whole, whole.length), whole);
});
