import { createFindSecrets, type FindSecrets } from './find-secrets.ts';

const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export type Secret = Readonly<{ name: string; value: string }>;

/** Shorter values occur in ordinary words (U3). */
const shortestSecret = 8;
/** So many characters begin ordinary words, too, and give away less than half of a secret. */
const mostShownOfSecret = 3;

/** Redacts text that comes in parts. It holds back only what may begin a secret. */
export type InParts<Part> = Readonly<{
  push(part: Part): Part;
  /** The rest. `isCut`: the text was broken off, so the rest is left out if it may be a good part of a secret. */
  end(isCut?: boolean): Part;
}>;

/** Removes secrets from everything that leaves the bot (U3, S2). */
export type Redaction = Readonly<{
  text(text: string): string;
  /** Redacts the texts of a value that never changes, and does so only once. */
  constant<Value extends object>(value: Value): Value;
  textInParts(): InParts<string>;
  /** Redacts UTF-8 in parts, which may be cut inside a character. */
  bytesInParts(): InParts<Buffer>;
}>;

export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  return createRedaction(secrets).text;
}

/**
 * Redacts secrets of 8 characters or more: the value and its `secretForms`, with line breaks anywhere (U3). Reversed,
 * split or encrypted values are not found.
 */
export function createRedaction(secrets: readonly Secret[]): Redaction {
  const words = new Map<string, string>();
  for (const { name, value } of secrets)
    for (const form of [value, value.trim()].flatMap(formsOf)) if (!words.has(form)) words.set(form, name);
  if (words.size === 0) return nothingToRedact;
  const find = createFindSecrets(words);
  // One character for each byte, so that nothing has to be decoded.
  const asBytes = new Map([...words].map(([word, name]) => [inLatin1(word), inLatin1(name)]));
  let findBytes: FindSecrets | undefined;
  const text = (text: string): string => replaced(text, find);
  const constants = new WeakMap<object, object>();
  return {
    text,
    constant<Value extends object>(value: Value) {
      const clean = (constants.get(value) as Value | undefined) ?? redactTexts(value, text);
      constants.set(value, clean);
      return clean;
    },
    textInParts: () => inParts(find),
    bytesInParts() {
      const text = inParts((findBytes ??= createFindSecrets(asBytes)));
      return {
        push: (part) => Buffer.from(text.push(part.toString('latin1')), 'latin1'),
        end: (isCut) => Buffer.from(text.end(isCut), 'latin1'),
      };
    },
  };
}

const nothingToRedact: Redaction = {
  text: (text) => text,
  constant: (value) => value,
  textInParts: () => ({ push: (part) => part, end: () => '' }),
  bytesInParts: () => ({ push: (part) => part, end: () => Buffer.alloc(0) }),
};

function formsOf(value: string): readonly string[] {
  const isLong = (text: string): boolean => text.replace(/[\r\n]/g, '').length >= shortestSecret;
  return isLong(value) ? secretForms(value).filter(isLong) : [];
}

function inLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function replaced(text: string, find: FindSecrets): string {
  const stretches = find.all(text);
  if (stretches.length === 0) return text;
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, name } of stretches) {
    // Text inside of JSON has to stay valid.
    pieces.push(text.slice(from, start), `[redacted ${name.replace(/["\\\]\p{Cc}]/gu, '')}]`);
    from = end;
  }
  return pieces.join('') + text.slice(from);
}

function inParts(find: FindSecrets): InParts<string> {
  let held = '';
  return {
    push(part) {
      held += part;
      const open = find.openFrom(held);
      const across = find.all(held).find(({ end }) => end > open);
      const upTo = Math.min(open, across?.start ?? open);
      const out = replaced(held.slice(0, upTo), find);
      held = held.slice(upTo);
      return out;
    },
    end(isCut = false) {
      const isPart = held.length - find.openFrom(held) > mostShownOfSecret;
      const out = isCut && isPart ? '' : replaced(held, find);
      held = '';
      return out;
    },
  };
}

/**
 * A value as usual programs print it (U3): base64 and base32 at any offset, hex with and without separators, and
 * escaped for URLs and JSON.
 */
export function secretForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const json = [escapedForJson(value), asciiJson(value), ...harmlessJson(value)];
  const slashed = json.map((form) => form.replaceAll('/', '\\/'));
  return [
    ...new Set([
      value,
      ...json,
      ...slashed,
      // JSON inside of JSON, as in logs.
      ...[...json, ...slashed].map(escapedForJson),
      ...urlForms(value),
      ...hexForms(hex),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
      ...[0, 1, 2, 3, 4].map((offset) => base32At(bytes, offset)),
    ]),
  ];
}

function escapedForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** JSON with only ASCII, as Python and others write it. */
function asciiJson(text: string): string {
  return escapedForJson(text).replace(/[\u007f-\uffff]/g, byNumber);
}

/** JSON for web pages: Go and Rails without the special characters of HTML, .NET with little besides letters. */
function harmlessJson(text: string): readonly string[] {
  const json = escapedForJson(text);
  return [
    json.replace(/[<>&\u2028\u2029]/g, byNumber),
    json
      .replaceAll('\\"', '\\u0022')
      .replace(/[<>&'+`\u007f-\uffff]/g, (unit) => `\\u${byNumber(unit).slice(2).toUpperCase()}`),
  ];
}

function byNumber(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function urlForms(value: string): readonly string[] {
  const component = encodeURIComponent(value.toWellFormed());
  const strict = component.replace(/[!'()*]/g, octet);
  const written = [
    component,
    strict,
    strict.replaceAll('%2F', '/'),
    encodeURI(value.toWellFormed()),
    strict.replaceAll('~', '%7E'),
  ];
  return written.flatMap((form) => {
    const lower = form.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase());
    return [form, lower, ...[form, lower].map((each) => each.replaceAll('%20', '+'))];
  });
}

function octet(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The base64 characters that depend on the value alone, if it begins `offset` bytes into a group of three. */
function base64At(bytes: Buffer, offset: number): readonly string[] {
  const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = Math.floor((shifted.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((form) =>
    shifted.toString(form).slice(Math.ceil((offset * 8) / 6), whole),
  );
}

/** Hex as of `bytes.hex(' ')`, `openssl`, `xxd` and `hexdump -C`, which write 16 bytes a line. */
function hexForms(hex: string): readonly string[] {
  const bytes = hex.match(/../g) ?? [];
  const lines = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) =>
    bytes.slice(line * 16, line * 16 + 16),
  ).filter(({ length }) => length >= 8);
  const pairs = (first: number, of: readonly string[]): string =>
    of.map((byte, index) => (index > 0 && index % 2 === first ? ` ${byte}` : byte)).join('');
  const lower = [
    hex,
    ...[' ', ':', '-'].map((separator) => bytes.join(separator)),
    ...[0, 1].map((first) => pairs(first, bytes)),
    ...lines.flatMap((line) => [
      pairs(0, line),
      line.join(' '),
      `${line.slice(0, 8).join(' ')}  ${line.slice(8).join(' ')}`.trimEnd(),
    ]),
  ];
  return [...lower, ...lower.map((form) => form.toUpperCase())];
}

/** The same as `base64At` for base32, which has groups of five. */
function base32At(bytes: Buffer, offset: number): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const first = (5 - ((offset * 8) % 5)) % 5;
  const letters = bits.slice(first).match(/.{5}/g) ?? [];
  return letters.map((five) => base32Letters[Number.parseInt(five, 2)]).join('');
}

type Redact = (text: string) => string;
type NameKeys = (keys: readonly string[]) => readonly string[];

/**
 * Redacts texts and keys of a value. If nothing changed, it returns the same value. Keys that become equal are
 * numbered.
 */
export function redactDeep<Value>(value: Value, redact: Redact): Value {
  return walk(value, redact, (keys) => redactedKeys(keys, redact));
}

export function redactTexts<Value>(value: Value, redact: Redact): Value {
  return walk(value, redact, (keys) => keys);
}

function walk<Value>(value: Value, redact: Redact, nameKeys: NameKeys): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const clean = items.map((item) => walk(item, redact, nameKeys));
    return clean.every((item, index) => item === items[index]) ? value : (clean as Value);
  }
  const own = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(own);
  const names = nameKeys(keys);
  const clean = keys.map((key) => walk(own[key], redact, nameKeys));
  const isSame = keys.every((key, index) => names[index] === key && clean[index] === own[key]);
  return isSame ? value : (Object.fromEntries(clean.map((item, index) => [names[index], item])) as Value);
}

function redactedKeys(keys: readonly string[], redact: Redact): readonly string[] {
  const clean = keys.map(redact);
  if (clean.every((key, index) => key === keys[index])) return keys;
  const taken = new Set(keys.filter((key, index) => key === clean[index]));
  const times = new Map<string, number>();
  return clean.map((key, index) => {
    if (key === keys[index]) return key;
    let name = key;
    while (taken.has(name)) {
      const time = (times.get(key) ?? 1) + 1;
      times.set(key, time);
      name = `${key} ${time}`;
    }
    taken.add(name);
    return name;
  });
}
