import { basename, dirname } from 'node:path';
import type { Diagnostic, ErrorCode } from '../core/codes.ts';
import type { Pin, Skill } from '../core/skill.ts';
import { decodeText } from '../lib/text/text.ts';
import { pinBroken, readPinned } from './install/hash-skill.ts';
import type { LastGood } from './last-good.ts';
import { frontMatterLimit, readFrontMatter } from './parse/front-matter.ts';
import { readStart } from './skill-store.ts';

/** Bytes of a body (F7). */
export const bodyLimit = 200_000;

export const bodyReadLimit = bodyLimit + 4 * frontMatterLimit;

export type Body =
  | Readonly<{
      ok: true;
      text: string;
      /** At 200,000 bytes: warning CONTENT_TRUNCATED (F7). */
      truncated: boolean;
      /** The file is broken; this is its last good version (F9). */
      kept: boolean;
    }>
  | Readonly<{ ok: false; code: ErrorCode; message: string }>;

/** The current instructions, or the last good version (F7, F9). Of an installed skill only the approved bytes (D6). */
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
): Readonly<{ text: string; truncated: boolean }> | Pick<Diagnostic, 'message'> {
  const text = decodeText(bytes, cut);
  if (text === undefined) return { message: 'the file is not UTF-8' };
  const read = readFrontMatter(text);
  if (!read.ok) return read.problem;
  const body = read.file.body.trim();
  if (body === '') return { message: 'the body is empty' };
  const encoded = Buffer.from(body);
  if (encoded.length <= bodyLimit) return { text: body, truncated: cut };
  return { text: decodeText(encoded.subarray(0, bodyLimit), true) ?? '', truncated: true };
}
