import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { withoutFile } from '../../src/replies/deliver.ts';
import { fixed, languages, sayIn } from '../../src/core/texts/say.ts';
import { saidInSource, unsaidInSource } from '../../bin/said-in-source.ts';

const placesIn = (sentence: string): readonly string[] => (sentence.match(/\{\d+\}/g) ?? []).sort();
const said = [...saidInSource()].sort();
const isSaid = new Set(said);

for (const language of languages) {
  test(`H14 ${language} translates only what is said, with the same values in it`, () => {
    const file = new URL(`../../src/core/texts/${language}.json`, import.meta.url);
    const catalogue = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    assert.ok(said.length > 100, 'the source is read');
    assert.deepEqual(
      Object.keys(catalogue).filter((sentence) => !isSaid.has(sentence)),
      [],
    );
    for (const [sentence, translated] of Object.entries(catalogue)) {
      assert.deepEqual(placesIn(translated), placesIn(sentence), sentence);
      assert.equal(translated, translated.trim());
      assert.notEqual(translated, '');
      // What stands in code is typed as it is, in any language.
      assert.deepEqual(translated.match(/`[^`]*`/g), sentence.match(/`[^`]*`/g), sentence);
    }
  });
}

test('H14 no words for people are written past the translations', () => {
  assert.deepEqual(unsaidInSource(), []);
});

test('H14 a language is taken from any tag of it; others, and what is not translated, are English', () => {
  const button = (tag: string | undefined): string =>
    sayIn(tag)`This button has expired. Please ask me again.`;
  assert.equal(button(undefined), 'This button has expired. Please ask me again.');
  for (const tag of ['en', 'en-GB', 'xx', '', '__proto__', 'constructor', '../de'])
    assert.equal(button(tag), 'This button has expired. Please ask me again.');
  for (const language of languages) {
    assert.notEqual(button(language), 'This button has expired. Please ask me again.');
    assert.equal(button(`${language}-xx`), button(language));
    assert.equal(button(language.toUpperCase()), button(language));
  }
  assert.equal(sayIn('de')`No translation knows ${1} and ${'{0}'}.`, 'No translation knows 1 and {0}.');
});

test('H14 numbers, sizes and times are written as the language and its region do', () => {
  const at = Date.UTC(2026, 10, 23, 17, 5);
  const written = (tag: string | undefined): readonly string[] => {
    const say = sayIn(tag);
    return [
      say.number(1234.5, 2),
      say.bytes(3_400_000),
      say.bytes(812),
      say.time(at, 'Europe/Zurich'),
      say.hour(at, 'UTC'),
    ].map((text) => text.replace(/[\u00a0\u202f]/g, ' '));
  };
  assert.deepEqual(written(undefined), [
    '1,234.50',
    '3.4 MB',
    '812 bytes',
    '23 Nov 2026, 18:05 CET',
    '17:05 UTC',
  ]);
  assert.deepEqual(written('tlh'), written(undefined));
  assert.deepEqual(written('de'), ['1.234,50', '3,4 MB', '812 Byte', '23.11.2026, 18:05 MEZ', '17:05 UTC']);
  assert.deepEqual(written('fr').slice(0, 2), ['1 234,50', '3,4 Mo']);
  assert.match(written('pt-BR')[3] ?? '', /^23 de nov\. de 2026, 18:05/);
  assert.match(written('ja')[3] ?? '', /^2026\/11\/23, 18:05/);
});

test('T12 H14 why a file was not sent is told in the language of whom it was for', () => {
  const file = { id: 'f', name: 'a`b.csv', mime: 'text/csv', size: 1_234_567, language: 'de' };
  const { markdown } = withoutFile(
    { markdown: '', file },
    fixed`I’m not allowed to send files in this chat.`,
  );
  assert.equal(
    markdown.replace(/\u00a0/g, ' '),
    "Ich konnte die Datei `a'b.csv` (1,2 MB) nicht senden. In diesem Chat darf ich keine Dateien senden.",
  );
});

/** How sentences begin that tell a person that something does not work. */
const refusing =
  /^(?:\(|I can[’']t|I couldn|I don[’']t know (?!the (?:command|model|skill)|your)|You don’t have|This (?:answer|button|code|conversation|form|token)|The language model|Too many|Sorry|Not approved|It was interrupted|That sign-in expired|Others have)/;
const nextStep =
  /\b(?:ask|check|close|copy|delete|in a direct message|invite|my operator|open|operator|please|rephrase|restart|send|start|try|type|waits?|writes?)\b/i;
/** Said with what to do in the sentence after it. */
const continued = new Set([
  // It has a button to the direct message.
  'I can’t do that here.',
  'I can’t write to that chat any more.',
  'I couldn’t read {0}: {1}.',
  'That sign-in expired: it lasts 30 minutes.',
  'This answer is too long for the chat. All of it is in {0}.',
]);

test('H14 a sentence that refuses a person says what they can do', () => {
  const refusals = said.filter((sentence) => refusing.test(sentence) && /[.)]$/.test(sentence));
  assert.ok(refusals.length > 20);
  assert.deepEqual(
    refusals.filter((sentence) => !nextStep.test(sentence) && !continued.has(sentence)),
    [],
  );
});

test('H14 B4 numbers below a thousand read as Intl writes them in every language, without Intl', () => {
  for (const language of ['en-GB', ...languages])
    for (let n = 0; n < 1_000; n++) assert.equal(sayIn(language).number(n), n.toLocaleString(language));
});
