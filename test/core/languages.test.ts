import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { languages, sayIn } from '../../src/core/texts/say.ts';
import { saidInSource } from './said-in-source.ts';

const placesIn = (sentence: string): readonly string[] => (sentence.match(/\{\d+\}/g) ?? []).sort();
const said = [...saidInSource()].sort();

for (const language of languages) {
  test(`H14 ${language} has every sentence, and no other, with the same values in it`, () => {
    const file = new URL(`../../src/core/texts/${language}.json`, import.meta.url);
    const catalogue = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    assert.ok(said.length > 100, 'the source is read');
    assert.deepEqual(Object.keys(catalogue).sort(), said);
    for (const [sentence, translated] of Object.entries(catalogue)) {
      assert.deepEqual(placesIn(translated), placesIn(sentence), sentence);
      assert.equal(translated, translated.trim());
      assert.notEqual(translated, '');
      // What stands in code is typed as it is, in any language.
      assert.deepEqual(translated.match(/`[^`]*`/g), sentence.match(/`[^`]*`/g), sentence);
    }
  });
}

test('H14 a language is taken from any tag of it; others, and what is not translated, are English', () => {
  const button = (tag: string | undefined): string => sayIn(tag)`This button has expired.`;
  assert.equal(button(undefined), 'This button has expired.');
  for (const tag of ['en', 'en-GB', 'xx', '', '__proto__', 'constructor', '../de'])
    assert.equal(button(tag), 'This button has expired.');
  for (const language of languages) {
    assert.notEqual(button(language), 'This button has expired.');
    assert.equal(button(`${language}-xx`), button(language));
    assert.equal(button(language.toUpperCase()), button(language));
  }
  assert.equal(sayIn('de')`No translation knows ${1} and ${'{0}'}.`, 'No translation knows 1 and {0}.');
});
