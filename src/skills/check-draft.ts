import path from 'node:path';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Skill } from '../core/skill.ts';
import { parseSkill } from './parse/parse-skill.ts';
import { malformedPath } from './read-skill-file.ts';
import { isSkillFileName } from './scan-root.ts';
import { reservedNames } from './reserved-names.ts';
import { nameProblems, slugOf } from './parse/skill-name.ts';
import { validateSkill } from './parse/validate-skill.ts';

/** A skill as the bot is about to write it. */
export type SkillDraft = Readonly<{
  name: string;
  /** The SKILL.md. */
  content: string;
  files: readonly Readonly<{ path: string; content: string }>[];
}>;

/** What a skill may have that the bot writes, so that a person can read all of it before they enable it. */
export const draftLimits = {
  /** Bytes of the SKILL.md. */
  content: 30_000,
  /** Bytes of each other file. */
  file: 30_000,
  files: 20,
  /** Bytes of everything. */
  total: 60_000,
} as const;

/** Bytes of one name of a file or folder. */
const segmentLimit = 120;
/** Folders inside one another. */
const depthLimit = 6;

export type CheckedDraft = Readonly<{
  /** One sentence for each thing that keeps it from being written. */
  problems: readonly string[];
  /** One sentence for each thing that does not. */
  warnings: readonly string[];
  /** What the tools of its runs are listed as, where it could be read. */
  allowedTools?: Skill['allowedTools'];
}>;

/** Everything that is wrong with a draft at once, so that its writer can mend it in one go: the validate profile (F5), its name, its files' paths and sizes (D9). */
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
    ...(parsed.ok ? { allowedTools: parsed.definition.allowedTools } : {}),
  };
}

function problemsOfName(name: string): readonly string[] {
  if (name === '') return ['name: give the skill a name'];
  const problems = nameProblems(name, undefined).map((problem) => `name: ${problem}`);
  if (Buffer.byteLength(name) > segmentLimit) problems.push(`name: at most ${segmentLimit} bytes`);
  if (name !== name.normalize('NFKC') && problems.length === 0)
    problems.push(`name: write ${JSON.stringify(slugOf(name))}`);
  if (reservedNames.has(name)) problems.push(`name: "${name}" is a key of the bot's own configuration`);
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
    // File systems that know no case would make one file of two.
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

/** Stricter than what may be read (R4): what is written should be plain to everybody. */
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
