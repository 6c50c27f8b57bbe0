import { lstat, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reservedSkillNames } from '../config/skill-sections.ts';
import type { Diagnostic } from '../core/codes.ts';
import { slugOf, type Skill } from '../core/skill.ts';
import { hashSkill } from './install/hash-skill.ts';
import { parseSkill } from './parse/parse-skill.ts';
import { nameProblems } from './parse/skill-definition.ts';
import { validateSkill } from './parse/validate-skill.ts';
import { malformedPath } from './skill-files.ts';
import { isSkillFileName } from './scan-root.ts';
import { marker } from './written-marker.ts';

/** Limits in bytes and files. A draft has to be small enough for a person to read before enabling it. */
export const draftLimits = {
  content: 30_000,
  file: 30_000,
  files: 20,
  total: 60_000,
} as const;

const segmentLimit = 120;

const depthLimit = 6;

/** A complete draft that lies beside its final place. */
type PreparedDraft = Readonly<{
  hash: string;
  /** Puts the draft in place. `keep` keeps the version before, so that it can come back. */
  switchIn(keep: boolean): Promise<void>;
  discard(): Promise<void>;
}>;

const markerText =
  'The bot wrote this skill. It stays off until an owner enables exactly these files (skillet skill enable).\n';

/**
 * Writes the draft into a dot folder in `root`, so that one rename can put it in place. Dot folders are no skills (D4).
 */
export async function prepareDraft(root: string, draft: SkillDraft): Promise<PreparedDraft> {
  await mkdir(root, { recursive: true });
  const aside = await mkdtemp(path.join(root, '.writing-'));
  const put = async (file: string, content: string): Promise<void> => {
    const place = path.join(aside, file);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, content, { flag: 'wx' });
  };
  await put('SKILL.md', draft.content);
  await put(marker, markerText);
  for (const { path: file, content } of draft.files) await put(file, content);
  const hash = hashSkill(aside)?.hash;
  if (hash === undefined) throw new Error(`${aside} cannot be read back`);
  const target = path.join(root, draft.name);
  return {
    hash,
    async switchIn(keep) {
      const before = replacedPath(root, draft.name);
      if (await isThere(target)) {
        const away = keep ? before : `${aside}-old`;
        await mkdir(path.dirname(away), { recursive: true });
        await rm(away, { recursive: true, force: true });
        await rename(target, away);
      }
      await rename(aside, target);
      await rm(`${aside}-old`, { recursive: true, force: true });
    },
    discard: () => rm(aside, { recursive: true, force: true }),
  };
}

/**
 * Removes a skill that the bot wrote. If the version before has the hash `wanted`, it comes back, and the result is
 * true.
 */
export async function removeWritten(
  root: string,
  name: string,
  wanted: string | undefined,
): Promise<boolean> {
  const [target, before] = [path.join(root, name), replacedPath(root, name)];
  await rm(target, { recursive: true, force: true });
  const comesBack = wanted !== undefined && hashSkill(before)?.hash === wanted;
  if (comesBack) await rename(before, target);
  else await rm(before, { recursive: true, force: true });
  return comesBack;
}

export function dropReplaced(root: string, name: string): Promise<void> {
  return rm(replacedPath(root, name), { recursive: true, force: true });
}

/** Whether anything lies there, even a broken link. */
export async function isThere(place: string): Promise<boolean> {
  const found = await lstat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found !== undefined;
}

export function replacedPath(root: string, name: string): string {
  return path.join(root, '.replaced', name);
}

export type SkillDraft = Readonly<{
  name: string;
  content: string;
  files: readonly Readonly<{ path: string; content: string }>[];
}>;

type CheckedDraft = Readonly<{
  /** Sentences about what keeps the draft from being written; empty if nothing does. */
  problems: readonly string[];
  warnings: readonly string[];
  allowedTools?: Skill['allowedTools'];
}>;

/** Checks a draft and returns all problems at once: validation (F5), name, paths and sizes (D9). */
export function checkDraft({ name, content, files }: SkillDraft): CheckedDraft {
  const directory = path.join('/', 'skills', path.basename(name === '' ? '?' : name));
  const source = { path: path.join(directory, 'SKILL.md'), directory, bytes: Buffer.from(content) };
  const found = validateSkill(source);
  const parsed = parseSkill({ ...source, origin: 'workspace', cut: false });
  const sentences = (level: Diagnostic['level']): readonly string[] =>
    found
      .filter((one) => one.level === level)
      .map(({ line, message }) => `SKILL.md${line === undefined ? '' : ` line ${line}`}: ${message}`);
  return {
    problems: [
      ...problemsOfName(name),
      ...sentences('error'),
      ...problemsOfSize(content, files),
      ...problemsOfFiles(files),
    ],
    warnings: sentences('warning'),
    allowedTools: parsed.ok ? parsed.definition.allowedTools : undefined,
  };
}

function problemsOfName(name: string): readonly string[] {
  if (name === '') return ['name: give the skill a name'];
  const problems = nameProblems(name, undefined).map((problem) => `name: ${problem}`);
  if (Buffer.byteLength(name) > segmentLimit) problems.push(`name: at most ${segmentLimit} bytes`);
  if (name !== name.normalize('NFKC') && problems.length === 0)
    problems.push(`name: write ${JSON.stringify(slugOf(name))}`);
  if (reservedSkillNames.includes(name))
    problems.push(`name: "${name}" is a key of the bot's own configuration`);
  return problems;
}

function problemsOfSize(content: string, files: SkillDraft['files']): readonly string[] {
  const [own, ...others] = [content, ...files.map((file) => file.content)].map((text) =>
    Buffer.byteLength(text),
  );
  const total = others.reduce((sum, size) => sum + size, own ?? 0);
  return [
    ...((own ?? 0) > draftLimits.content
      ? [`SKILL.md: ${own} bytes; at most ${draftLimits.content}: move details into files below references/`]
      : []),
    ...others.flatMap((size, index) =>
      size > draftLimits.file
        ? [`${JSON.stringify(files[index]?.path)}: ${size} bytes; at most ${draftLimits.file}`]
        : [],
    ),
    ...(files.length > draftLimits.files ? [`files: ${files.length}; at most ${draftLimits.files}`] : []),
    ...(total > draftLimits.total ? [`${total} bytes in all; at most ${draftLimits.total}`] : []),
  ];
}

function problemsOfFiles(files: SkillDraft['files']): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { path: file, content } of files) {
    const problem = problemOfPath(file);
    if (problem !== undefined) problems.push(`${JSON.stringify(file)}: ${problem}`);
    // Some file systems ignore case, so such names would be one file.
    const key = file.normalize('NFKC').toLowerCase();
    if (seen.has(key)) problems.push(`${JSON.stringify(file)}: named twice`);
    seen.add(key);
    if (content.includes('\0'))
      problems.push(`${JSON.stringify(file)}: holds a NUL; only text can be written`);
  }
  for (const key of seen) {
    const inside = [...seen].find((other) => other.startsWith(`${key}/`));
    if (inside !== undefined)
      problems.push(`${JSON.stringify(key)}: is a file and the folder of ${JSON.stringify(inside)}`);
  }
  return problems;
}

/** What is wrong with a path. This is stricter than the rule for reading (R4). Undefined: nothing is. */
function problemOfPath(file: string): string | undefined {
  const malformed = malformedPath(file);
  if (malformed !== undefined) return malformed;
  const segments = file.split('/');
  if (segments.some((segment) => segment === '' || segment.startsWith('.')))
    return 'no part of a path is empty or begins with a dot';
  if (segments.includes('node_modules')) return 'node_modules is never read';
  if (segments.some((segment) => isSkillFileName(segment) || /^skill\.md$/i.test(segment)))
    return 'the SKILL.md is given as content, and there is one';
  if (segments.length > depthLimit) return `at most ${depthLimit} levels`;
  if (segments.some((segment) => Buffer.byteLength(segment) > segmentLimit))
    return `at most ${segmentLimit} bytes a name`;
  if (/[^\p{L}\p{N}\p{M} ._+@=,()-]/u.test(segments.join('')))
    return 'letters, digits, spaces and ._+@=,()- only';
  return undefined;
}
