import type { ErrorCode } from '../../core/codes.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Pin, Skill } from '../../core/skill.ts';
import { basename, dirname } from 'node:path';
import { decodeText } from '../../lib/text/decode-text.ts';
import { readStart } from '../file-skill-store.ts';
import type { LastGood } from '../last-good.ts';
import { pinBroken, readPinned } from '../install/lock-check.ts';
import { frontMatterLimit, splitFrontMatter } from './split-front-matter.ts';

/** A body is at most this many bytes (F7). */
export const bodyLimit = 200_000;
/** Of a file, enough for front matter, the lines around it and a body over its limit. */
export const bodyReadLimit = bodyLimit + 4 * frontMatterLimit;

export type Body =
  | Readonly<{
      ok: true;
      text: string;
      /** Cut at 200,000 bytes: warning CONTENT_TRUNCATED (F7). */
      truncated: boolean;
      /** The file is broken now; this is its last good version (F9). */
      kept: boolean;
    }>
  | Readonly<{ ok: false; code: ErrorCode; message: string }>;

/**
 * The instructions of a skill as its file holds them now; where that is broken, those of the last good version (F7, F9).
 * Of an installed skill they are the bytes that were agreed to, or none (D6).
 */
export async function readBody(
  skill: Pick<Skill, 'path' | 'root' | 'name' | 'pin'>,
  lastGood?: Pick<LastGood, 'read'>,
): Promise<Body> {
  if (skill.pin !== undefined) return readPinnedBody(skill.path, skill.pin);
  const stored = readStart(skill.root ?? dirname(skill.path), skill.path, bodyReadLimit);
  const now = stored.ok ? bodyOf(stored.bytes, stored.cut) : stored.diagnostic;
  if ('text' in now) return { ok: true, ...now, kept: false };
  const keptBytes = lastGood?.read(skill.path);
  const kept = keptBytes === undefined ? undefined : bodyOf(keptBytes, keptBytes.length >= bodyReadLimit);
  if (kept !== undefined && 'text' in kept) return { ok: true, ...kept, kept: true };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${skill.name}: ${now.message}` };
}

function readPinnedBody(path: string, pin: Pin): Body {
  const file = readPinned(dirname(path), pin, basename(path));
  if (!file.ok) return { ok: false, code: 'SKILL_UNAVAILABLE', message: pinBroken(pin, file.problem) };
  const cut = file.bytes.length > bodyReadLimit;
  const body = bodyOf(file.bytes.subarray(0, bodyReadLimit), cut);
  if ('text' in body) return { ok: true, ...body, kept: false };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${pin.name}: ${body.message}` };
}

function bodyOf(
  bytes: Uint8Array,
  cut: boolean,
): Readonly<{ text: string; truncated: boolean }> | Diagnostic {
  const text = decodeText(bytes, cut);
  if (text === undefined) return { level: 'error', code: 'NOT_UTF8', message: 'the file is not UTF-8' };
  const split = splitFrontMatter(text);
  if (!split.ok) return split.diagnostic;
  const body = split.file.body.trim();
  if (body === '') return { level: 'error', code: 'BODY_EMPTY', message: 'the body is empty' };
  const encoded = Buffer.from(body);
  if (encoded.length <= bodyLimit) return { text: body, truncated: cut };
  return { text: decodeText(encoded.subarray(0, bodyLimit), true) ?? '', truncated: true };
}
