import { basename, dirname } from 'node:path';
import type { Diagnostic, ErrorCode } from '../core/codes.ts';
import { bytesRead, mostBytes, type Pin, type Skill } from '../core/skill.ts';
import { decodeText } from '../lib/text/text.ts';
import { pinBroken, readPinned } from './install/hash-skill.ts';
import type { LastGood } from './last-good.ts';
import { frontMatterLimit, readFrontMatter } from './parse/front-matter.ts';
import { readStart } from './skill-store.ts';

/** How many bytes of a file are read: the longest body that can be set, and its front matter. */
export const bodyReadLimit = mostBytes + 4 * frontMatterLimit;

export type Body =
  | Readonly<{
      ok: true;
      text: string;
      /** True if the text was cut at `max_bytes`, which is the warning CONTENT_TRUNCATED (F7). */
      truncated: boolean;
      /** True if the file is broken and this is its last good version (F9). */
      kept: boolean;
    }>
  | Readonly<{ ok: false; code: ErrorCode; message: string }>;

/**
 * Reads at most `maxBytes` of a skill's instructions, or of their last good version (F7, F9). Of an installed skill it
 * reads only the approved bytes (D6).
 */
export async function readBody(skill: Skill, lastGood?: LastGood, maxBytes = bytesRead): Promise<Body> {
  if (skill.pin !== undefined) return readPinnedBody(skill.path, skill.pin, maxBytes);
  const stored = readStart(skill.root ?? dirname(skill.path), skill.path, bodyReadLimit);
  const now = stored.ok ? bodyOf(stored.bytes, stored.cut, maxBytes) : stored.diagnostic;
  if ('text' in now) return { ok: true, ...now, kept: false };
  const keptBytes = lastGood?.read(skill.path);
  const kept =
    keptBytes === undefined ? undefined : bodyOf(keptBytes, keptBytes.length >= bodyReadLimit, maxBytes);
  if (kept !== undefined && 'text' in kept) return { ok: true, ...kept, kept: true };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${skill.name}: ${now.message}` };
}

function readPinnedBody(path: string, pin: Pin, maxBytes: number): Body {
  const file = readPinned(dirname(path), pin.files, basename(path));
  if (!file.ok) return { ok: false, code: 'SKILL_UNAVAILABLE', message: pinBroken(pin, file.problem) };
  const cut = file.bytes.length > bodyReadLimit;
  const body = bodyOf(file.bytes.subarray(0, bodyReadLimit), cut, maxBytes);
  if ('text' in body) return { ok: true, ...body, kept: false };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${pin.name}: ${body.message}` };
}

function bodyOf(
  bytes: Uint8Array,
  cut: boolean,
  maxBytes: number,
): Readonly<{ text: string; truncated: boolean }> | Pick<Diagnostic, 'message'> {
  const text = decodeText(bytes, cut);
  if (text === undefined) return { message: 'the file is not UTF-8' };
  const read = readFrontMatter(text, { positions: false });
  if (!read.ok) return read.problem;
  const body = read.file.body.trim();
  if (body === '') return { message: 'the body is empty' };
  const encoded = Buffer.from(body);
  if (encoded.length <= maxBytes) return { text: body, truncated: cut };
  return { text: decodeText(encoded.subarray(0, maxBytes), true) ?? '', truncated: true };
}
