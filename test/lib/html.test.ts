import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { html } from '../../src/lib/text/html.ts';

test('S8 S6 no text gets out of where a page puts it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
      const { markup } = html`<p title="${text}">${text}</p>`;
      const [, inside = ''] = /^<p title="([^"]*)">/.exec(markup) ?? [];
      assert.equal(markup, `<p title="${inside}">${inside}</p>`);
      assert.doesNotMatch(inside, /[<>"'`]|&(?!#\d+;)/);
    }),
  );
});

test('S8 characters that turn text round are written out; line ends stay', () => {
  assert.equal(html`${'a\u202eb\r\nc\0'}`.markup, 'a\\u{202e}b\nc\\u{0}');
});

test('S8 markup inside markup stays, and nothing is printed for what is absent', () => {
  const list = [1, 2].map((n) => html`<b>${n}</b>`);
  assert.equal(html`<i>${list}</i>${undefined}${false}${''}`.markup, '<i><b>1</b><b>2</b></i>');
});
