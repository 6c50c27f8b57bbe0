import { timingSafeEqual } from 'node:crypto';
import type { CapabilityCode } from '../core/codes.ts';
import { withoutEnd } from '../lib/text/text.ts';

const longest = 4_096;

const codeForm = /^[\w.~+/=%-]{4,2048}$/;

export type AuthAnswer = Readonly<
  | { kind: 'none' }
  /** A code was found. `url` is null if it was a bare code. */
  | { kind: 'code'; code: string; url: string | null; state: string | null }
  /** The sign-in page says that the person refused. */
  | { kind: 'refused'; state: string | null }
  | { kind: 'unusable'; problem: CapabilityCode; state: string | null }
>;

/**
 * Finds a callback address, or a code that is named as one, across lines or among words (C6). A bare code is one
 * unlikely word.
 */
export function readAuthAnswer(text: string): AuthAnswer {
  const trimmed = text.trim();
  const read = trimmed.length > longest ? addresses(trimmed) : joined(trimmed);
  const urls: string[] = [];
  // This cheap check comes first, because the pattern takes a hundred times as long and every message passes here.
  const rest = !read.includes('://')
    ? read
    : read.replace(/[a-z][a-z0-9+.-]{0,100}:\/\/[^\s<>"'`]+/gi, (found) => {
        const url = tidy(found);
        urls.push(url);
        return ` ${found.slice(url.length)}`;
      });
  const callbacks = urls.filter(isCallback);
  const words = codeWords(rest);
  const [url, ...more] = callbacks;
  if (url !== undefined) return more.length > 0 ? tooMany(callbacks) : fromUrl(url, words);
  const [code, ...others] = words;
  if (code !== undefined && others.length === 0) return { kind: 'code', code, url: null, state: null };
  if (code !== undefined) return { kind: 'unusable', problem: 'capability_auth_code_conflict', state: null };
  return isBareCode(trimmed)
    ? { kind: 'code', code: bare(trimmed), url: null, state: null }
    : { kind: 'none' };
}

function fromUrl(url: string, words: readonly string[]): AuthAnswer {
  const given = parametersOf(url);
  const state = single(given, 'state') ?? null;
  const unusable = (problem: CapabilityCode): AuthAnswer => ({ kind: 'unusable', problem, state });
  if (given === undefined || ['code', 'state', 'error'].some((name) => given.getAll(name).length > 1))
    return unusable('capability_auth_callback_invalid');
  if (given.has('error')) return { kind: 'refused', state };
  const code = single(given, 'code');
  if (code === undefined || code === '') return unusable('capability_auth_code_missing');
  if (words.some((word) => word !== code)) return unusable('capability_auth_code_conflict');
  if (!/^[\x21-\x7e]{1,2048}$/.test(code)) return unusable('capability_auth_callback_invalid');
  return { kind: 'code', code, url, state };
}

function tooMany(urls: readonly string[]): AuthAnswer {
  const codes = new Set(urls.map((url) => single(parametersOf(url), 'code')));
  const [url = ''] = urls;
  return codes.size === 1
    ? fromUrl(url, [])
    : { kind: 'unusable', problem: 'capability_auth_code_conflict', state: null };
}

/** The parameters of query and fragment. Undefined if the text is no address. */
function parametersOf(url: string): URLSearchParams | undefined {
  if (!URL.canParse(url)) return undefined;
  const { search, hash } = new URL(url);
  return new URLSearchParams([search.slice(1), hash.slice(1)].filter((part) => part !== '').join('&'));
}

function isCallback(url: string): boolean {
  const given = parametersOf(url);
  if (given === undefined) return /[?&#](?:code|state)=/.test(url);
  return (given.has('state') && ['code', 'error'].some((name) => given.has(name))) || given.has('code');
}

/** Codes that are named as such, as in `code: 4/0AX…`. */
function codeWords(text: string): readonly string[] {
  const named = [...text.matchAll(/(?:^|[\s?&])code\s*(?:is\s*)?[:=]\s*([^\s&]+)/gi)].map(([, code = '']) =>
    tidy(code),
  );
  return [...new Set(named.filter((code) => codeForm.test(code)))];
}

/** Whether a word alone can be a code: eight characters or more with a digit, or a very long one. */
function isBareCode(text: string): boolean {
  const word = bare(text);
  if (!codeForm.test(word) || /^https?:/i.test(word)) return false;
  return (word.length >= 8 && /\d/.test(word) && /[A-Za-z/._~-]/.test(word)) || word.length >= 24;
}

function bare(text: string): string {
  return withoutEnd(text.replace(/^[`"'<(]+/, ''), '`"\'>)');
}

/** Keeps only the addresses of a long text, which limits the time that it takes. */
function addresses(text: string): string {
  const words = text.split(/\s/).filter((word) => word.length <= longest && word.includes('://'));
  return words.join(' ');
}

/** Joins the lines of a text that is one address, because clients break long addresses. */
function joined(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isOne =
    lines.length > 1 &&
    /^<?[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(lines[0] ?? '') &&
    lines.slice(1).every((line) => /^\S+$/.test(line) && !line.includes('://'));
  return isOne ? lines.join('') : text;
}

function tidy(url: string): string {
  return withoutEnd(url, ')]}>.,;!?`\'"');
}

function single(given: URLSearchParams | undefined, name: string): string | undefined {
  const values = given?.getAll(name) ?? [];
  return values.length === 1 ? values[0] : undefined;
}

/** Whether a text that was given is the secret. Takes the same time for each text of that length. */
export function isSecret(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
