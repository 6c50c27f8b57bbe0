import { createFindSecrets, type FindSecrets } from './find-secrets.ts';
import { secretForms } from './secret-forms.ts';

/** A value that must not leave, and the name that stands in its place. */
export type Secret = Readonly<{ name: string; value: string }>;

/** Shorter values are left alone: they would redact ordinary words (U3). */
const shortestSecret = 8;

/** Something that comes in parts, cut anywhere: what may be the beginning of a secret is held back, and nothing else. */
export type InParts<Part> = Readonly<{
  /** What may go out now. */
  push(part: Part): Part;
  /** What was held back. */
  end(): Part;
}>;

/** Takes secrets out of whatever leaves (U3, S2). */
export type Redaction = Readonly<{
  /** Replaces every secret by `[redacted NAME]`. */
  text(text: string): string;
  /** The same for text in parts. */
  textInParts(): InParts<string>;
  /** The same for UTF-8 in parts, which may be cut inside a character. */
  bytesInParts(): InParts<Buffer>;
}>;

/** `Redaction.text` alone. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  return createRedaction(secrets).text;
}

/**
 * For secrets of 8 characters or more: as they are, and in base64 (also inside a longer encoded text), hex, URL- and
 * JSON-escaped form, line breaks anywhere in them (U3). The net, not the wall: what is turned round, cut up or encrypted passes.
 */
export function createRedaction(secrets: readonly Secret[]): Redaction {
  const words = new Map<string, string>();
  // Spaces at its ends are lost when a value is printed.
  for (const { name, value } of secrets)
    for (const form of [value, value.trim()].flatMap(formsOf)) if (!words.has(form)) words.set(form, name);
  if (words.size === 0) return nothingToRedact;
  const find = createFindSecrets(words);
  // One character a byte: nothing has to be decoded, and nothing that is no text is changed.
  const asBytes = new Map([...words].map(([word, name]) => [inLatin1(word), inLatin1(name)]));
  let findBytes: FindSecrets | undefined;
  return {
    text: (text) => replaced(text, find),
    textInParts: () => inParts(find),
    bytesInParts() {
      const text = inParts((findBytes ??= createFindSecrets(asBytes)));
      return {
        push: (part) => Buffer.from(text.push(part.toString('latin1')), 'latin1'),
        end: () => Buffer.from(text.end(), 'latin1'),
      };
    },
  };
}

const nothingToRedact: Redaction = {
  text: (text) => text,
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
    // What stands in JSON is to stay JSON.
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
      // A secret that another one may follow from its middle goes as one with it.
      const across = find.all(held).find(({ end }) => end > open);
      const upTo = Math.min(open, across?.start ?? open);
      const out = replaced(held.slice(0, upTo), find);
      held = held.slice(upTo);
      return out;
    },
    end() {
      const out = replaced(held, find);
      held = '';
      return out;
    },
  };
}
