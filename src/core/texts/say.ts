import { readFileSync } from 'node:fs';
import { once } from '../../lib/async/once.ts';

/** Languages that the bot's own sentences are translated into; they are written in English (H14). */
export const languages = ['de', 'es', 'fr', 'ja', 'pt', 'ru', 'zh'] as const;
export type Language = (typeof languages)[number];

/** A sentence as it is written in English, `{0}` where a value stands: what translations are found by. */
export type Fixed = string;

/**
 * Says a sentence of the bot in one language: say`Hello ${name}.` A translation may order the values as it likes; a
 * sentence without one is said in English. Every sentence said so is in every `LANGUAGE.json` beside this file: a test
 * reads the source for them.
 */
export type Say = (words: TemplateStringsArray | Fixed, ...values: readonly (string | number)[]) => string;

type Catalogue = Readonly<Record<Fixed, string>>;

const catalogues: ReadonlyMap<string, () => Catalogue> = new Map(
  languages.map((language) => [
    language,
    once(() => {
      const file = new URL(`./${language}.json`, import.meta.url);
      return JSON.parse(readFileSync(file, 'utf8')) as Catalogue;
    }),
  ]),
);

/** The voice for a language tag, as platforms send them (`de`, `pt-br`, `zh-hans`); English for any other, and for none. */
export function sayIn(tag: string | undefined): Say {
  const catalogue = catalogues.get(languageOf(tag));
  return (words, ...values) => {
    const sentence = typeof words === 'string' ? words : keyOf(words);
    const translated = catalogue?.()[sentence] ?? sentence;
    return values.length === 0
      ? translated
      : translated.replace(/\{(\d+)\}/g, (_, at: string) => String(values[Number(at)]));
  };
}

/** A sentence that is said later, or by somebody who knows the language: fixed`Denied ${0}.` */
export function fixed(words: TemplateStringsArray, ..._places: readonly number[]): Fixed {
  return keyOf(words);
}

/** A number as it is written in a language: `1.234,50`. */
export function inWords(value: number, tag: string | undefined, digits = 0): string {
  const language = languageOf(tag);
  const known = languages.some((each) => each === language) ? language : 'en';
  return value.toLocaleString(known, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function keyOf(words: TemplateStringsArray): Fixed {
  return words.reduce((sentence, next, at) => `${sentence}{${at - 1}}${next}`);
}

function languageOf(tag: string | undefined): string {
  return tag?.split(/[-_]/)[0]?.toLowerCase() ?? 'en';
}
