import { readFileSync } from 'node:fs';
import { once } from '../../lib/async/mutex.ts';

export const languages = ['de', 'es', 'fr', 'ja', 'pt', 'ru', 'zh'] as const;
export type Language = (typeof languages)[number];

/** An English sentence with `{0}` for a value. It is the key of its translations. */
export type Fixed = string;

/**
 * Says a sentence in one language: say`Hello ${name}.` Sentences without a translation stay English; `npm run texts`
 * lists them.
 */
export type Say = ((words: TemplateStringsArray | Words, ...values: readonly (string | number)[]) => string) &
  Readonly<{
    /** Writes a number as the language does: `1.234,50`. */
    number(value: number, digits?: number): string;
    /** Joins alternatives as the language does: `a, b oder c`. */
    either(values: readonly string[]): string;
    /** Writes a number of bytes as people read it: `3,4 MB`. */
    bytes(count: number): string;
    /** Writes a date and time, such as `23.11.2026, 17:05 MEZ`, in an IANA time zone. */
    time(at: number, zone: string): string;
    /** Writes a time of day, such as `00:00 UTC`, in an IANA time zone. */
    hour(at: number, zone: string): string;
  }>;

export type Words = Fixed | ((say: Say) => string);

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

/**
 * Returns how to say sentences in the language of a BCP 47 tag such as `de`, `pt-br` or `zh-hans`; English for any
 * other.
 */
export function sayIn(tag: string | undefined): Say {
  const catalogue = catalogues.get(languageOf(tag));
  const locale = localeOf(tag);
  const say: Say = Object.assign(
    (words: TemplateStringsArray | Words, ...values: readonly (string | number)[]): string => {
      if (typeof words === 'function') return words(say);
      const sentence = typeof words === 'string' ? words : keyOf(words);
      const known = readable(catalogue);
      const translated = Object.hasOwn(known, sentence) ? (known[sentence] ?? sentence) : sentence;
      return values.length === 0
        ? translated
        : translated.replace(/\{(\d+)\}/g, (_, at: string) => String(values[Number(at)]));
    },
    {
      number: (value: number, digits = 0) => numberIn(locale, value, digits),
      either: (values: readonly string[]) =>
        new Intl.ListFormat(locale, { type: 'disjunction' }).format(values),
      bytes: (count: number) => bytesIn(locale, count),
      time: (at: number, timeZone: string) => timeIn(locale, at, { dateStyle: 'medium' }, timeZone),
      hour: (at: number, timeZone: string) => timeIn(locale, at, {}, timeZone),
    },
  );
  return say;
}

/** Small numbers are the same in all our languages. To load Intl for them would take 4 MB. */
function numberIn(locale: string, value: number, digits: number): string {
  if (digits === 0 && Number.isInteger(value) && value >= 0 && value < 1_000) return String(value);
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A language file that can't be read counts as empty, so that the answer goes out in English. */
function readable(catalogue: (() => Catalogue) | undefined): Catalogue {
  try {
    return catalogue?.() ?? {};
  } catch {
    return {};
  }
}

export function inEveryLanguage(sentence: Fixed): readonly string[] {
  return [undefined, ...languages].map((language) => sayIn(language)(sentence));
}

/** Marks a sentence that is said later, with its places numbered: fixed`Denied ${0}.` */
export function fixed(words: TemplateStringsArray, ..._places: readonly number[]): Fixed {
  return keyOf(words);
}

function bytesIn(locale: string, count: number): string {
  const [unit, size] =
    count < 1_000
      ? (['byte', count] as const)
      : count < 999_500
        ? (['kilobyte', count / 1_000] as const)
        : (['megabyte', count / 1_000_000] as const);
  return size.toLocaleString(locale, {
    style: 'unit',
    unit,
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits: size < 10 ? 1 : 0,
  });
}

function timeIn(locale: string, at: number, day: Intl.DateTimeFormatOptions, timeZone: string): string {
  const clock = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    hourCycle: 'h23',
    timeZone,
  }).format(at);
  if (day.dateStyle === undefined) return clock;
  return `${new Intl.DateTimeFormat(locale, { ...day, timeZone }).format(at)}, ${clock}`;
}

function localeOf(tag: string | undefined): string {
  const language = languageOf(tag);
  if (!languages.some((each) => each === language)) return 'en-GB';
  try {
    return new Intl.Locale(tag?.replaceAll('_', '-') ?? '').toString();
  } catch {
    return language;
  }
}

function keyOf(words: TemplateStringsArray): Fixed {
  return words.reduce((sentence, next, at) => `${sentence}{${at - 1}}${next}`);
}

function languageOf(tag: string | undefined): string {
  return tag?.split(/[-_]/)[0]?.toLowerCase() ?? 'en';
}
