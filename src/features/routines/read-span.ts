/** A length of time. Days and months follow the calendar: the time of day stays the same when the clocks change. */
export type TimeSpan = Readonly<{ ms: number; days: number; months: number }>;

const second = 1_000;
const day = 24 * 3_600 * second;

type Unit = Readonly<{ ms?: number; days?: number; months?: number }>;

const unitNames: readonly (readonly [string, Unit])[] = [
  ['s sec secs second seconds', { ms: second }],
  ['m min mins minute minutes', { ms: 60 * second }],
  ['h hr hrs hour hours', { ms: 3_600 * second }],
  ['d day days', { days: 1 }],
  ['w wk wks week weeks', { days: 7 }],
  ['fortnight fortnights', { days: 14 }],
  ['mo mos mth mths month months', { months: 1 }],
  ['quarter quarters', { months: 3 }],
  ['y yr yrs year years', { months: 12 }],
];
const units: ReadonlyMap<string, Unit> = new Map(
  unitNames.flatMap(([names, unit]) => names.split(' ').map((name) => [name, unit] as const)),
);

const ones = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const numbers: ReadonlyMap<string, number> = new Map([
  ...ones.map((word, n) => [word, n] as const),
  ...Object.entries({
    a: 1,
    an: 1,
    the: 1,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
  }),
  ...Object.entries({
    'forty-five': 45,
    ninety: 90,
    'half a': 0.5,
    'half an': 0.5,
    half: 0.5,
    couple: 2,
    pair: 2,
  }),
  ...Object.entries({ 'a couple of': 2, 'a pair of': 2, 'a few': 3, 'a dozen': 12 }),
]);
const word = [...numbers.keys()].sort((a, b) => b.length - a.length).join('|');
const piece = new RegExp(
  `^(\\d{1,6}(?:\\.\\d{1,3})?|(?:${word})\\b)( and a half)? ?([a-z]+)( and a half)?(?:,? and\\b|,)? ?`,
);

/**
 * Reads a length of time in lower case with single spaces, such as "2h30m", "an hour and a half", "1.5 hours" or
 * "pt20m". Undefined: the words are none, or it is zero.
 */
export function readSpan(text: string): TimeSpan | undefined {
  const span = isoSpan(text) ?? spanInWords(text);
  return span !== undefined && span.ms + span.days + span.months > 0 ? span : undefined;
}

function spanInWords(text: string): TimeSpan | undefined {
  let whole: TimeSpan = { ms: 0, days: 0, months: 0 };
  for (let rest = text; rest !== '';) {
    const [all = '', number = '', half, name = '', halfMore] = piece.exec(rest) ?? [];
    const unit = units.get(name);
    if (unit === undefined) return undefined;
    const count = numbers.get(number) ?? Number(number);
    const added = times(unit, count + (half === undefined && halfMore === undefined ? 0 : 0.5));
    if (added === undefined) return undefined;
    whole = { ms: whole.ms + added.ms, days: whole.days + added.days, months: whole.months + added.months };
    rest = rest.slice(all.length);
  }
  return whole;
}

/** Multiplies a unit. Half a day is twelve hours; half a month has no length, so it is undefined. */
function times({ ms = 0, days = 0, months = 0 }: Unit, count: number): TimeSpan | undefined {
  const whole = { ms: Math.ceil(ms * count), days: days * count, months: months * count };
  if (!Number.isInteger(whole.months)) return undefined;
  if (Number.isInteger(whole.days)) return whole;
  return { ...whole, ms: Math.ceil(whole.days * day), days: 0 };
}

function isoSpan(text: string): TimeSpan | undefined {
  const found = /^p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?$/.exec(
    text,
  );
  if (found === null) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((each) => Number(each ?? 0));
  return {
    ms: ((hours * 60 + minutes) * 60 + seconds) * second,
    days: 7 * weeks + days,
    months: 12 * years + months,
  };
}
