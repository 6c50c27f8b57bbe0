import { decodeText } from '../../lib/text/text.ts';
import { sizeText } from './install-source.ts';
import type { BundleOffer, SkillOffer, OfferedFile } from './install-offers.ts';
import { readPinned } from './hash-skill.ts';
import { contentHash, installedFolder, type LockedSkill } from './lock-file.ts';
import { skillFileOf } from './locked-skill-store.ts';

import { judge, readLimit } from '../load-skills.ts';
import { allowedChatTypesOf, type Definition } from '../parse/skill-definition.ts';

const around = 3;

/** How many pairs of lines are compared. In a larger file the whole middle is shown as replaced. */
const pairLimit = 4_000_000;

/** How a file differs from the agreed one of its path. */
export type FileChange = Readonly<{
  path: string;
  kind: 'added' | 'changed' | 'removed';
  /** The changed lines. A sentence instead if the file is no text, or the approved bytes are gone. */
  shown: readonly ComparedLine[] | string;
}>;

export type SkillChange = Readonly<{ files: readonly FileChange[]; asksMore: readonly string[] }>;

/** Whether the offered files differ from those that were approved. */
export function isChanged(locked: LockedSkill, { name, files }: BundleOffer): boolean {
  return contentHash(locked) !== contentHash({ name, files });
}

export function compareSkill(dataDir: string, locked: LockedSkill, offer: SkillOffer): SkillChange {
  const folder = installedFolder(dataDir, locked);
  const skillFile = skillFileOf(locked.files);
  const bytes = agreedBytes(folder, locked, skillFile);
  const place = { path: skillFile, directory: folder, origin: 'installed' as const };
  const was =
    bytes === undefined
      ? undefined
      : judge(
          { ...place, bytes: bytes.subarray(0, readLimit), cut: bytes.length > readLimit },
          { diagnostics: [] },
          false,
        );
  const more = was?.ok === true ? requestsMore(was.definition, offer.definition) : unknown;
  return { files: compareFiles(folder, locked, offer), asksMore: more };
}

/** The files that differ from the agreed ones in this folder. */
export function compareFiles(folder: string, locked: LockedSkill, offer: BundleOffer): readonly FileChange[] {
  const before = new Map(locked.files.map(({ path, sha256 }) => [path, sha256]));
  const after = new Map(offer.files.map((file) => [file.path, file]));
  const files: FileChange[] = [];
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const file = after.get(path);
    if (before.get(path) === file?.sha256) continue;
    const kind = file === undefined ? 'removed' : before.has(path) ? 'changed' : 'added';
    const agreed = kind === 'added' ? Buffer.alloc(0) : agreedBytes(folder, locked, path);
    files.push({ path, kind, shown: show(agreed, file) });
  }
  return files;
}

function agreedBytes(folder: string, { files }: LockedSkill, path: string): Uint8Array | undefined {
  const read = readPinned(folder, files, path);
  return read.ok ? read.bytes : undefined;
}

const unknown = ['what was agreed to can no longer be read here: look at all that it asks for'];

function show(
  before: Uint8Array | undefined,
  after: OfferedFile | undefined,
): readonly ComparedLine[] | string {
  if (before === undefined) return 'the agreed bytes are no longer here to compare with';
  const texts = [before, after?.bytes ?? Buffer.alloc(0)].map((bytes) => decodeText(bytes, false));
  const [left, right] = texts;
  if (left !== undefined && right !== undefined && !left.includes('\0') && !right.includes('\0'))
    return compareLines(left, right);
  if (after === undefined) return `no text, ${sizeText(before.length)}`;
  return `no text, ${sizeText(before.length)} before, ${sizeText(after.bytes.length)} now, sha256 ${after.sha256}`;
}

/** A line of a comparison: `-` was removed, `+` was added, a blank is in both, `@` says how many lines are left out. */
type ComparedLine = Readonly<{ mark: '-' | '+' | ' ' | '@'; text: string }>;

export function compareLines(before: string, after: string): readonly ComparedLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const unchanged = (lines: readonly string[]): ComparedLine[] => lines.map((text) => ({ mark: ' ', text }));
  const lines = [
    ...unchanged(a.slice(0, start)),
    ...compareMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...unchanged(a.slice(a.length - end)),
  ];
  return withoutFarOnes(lines);
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : [...lines.slice(0, -1), `${lines.at(-1)}\\ no line end`];
}

function compareMiddle(a: readonly string[], b: readonly string[]): readonly ComparedLine[] {
  const removed = (text: string): ComparedLine => ({ mark: '-', text });
  const added = (text: string): ComparedLine => ({ mark: '+', text });
  if (a.length * b.length > pairLimit) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(left));
      i += 1;
    } else {
      lines.push(added(right ?? ''));
      j += 1;
    }
  }
  return lines;
}

function withoutFarOnes(lines: readonly ComparedLine[]): readonly ComparedLine[] {
  const near = new Set<number>();
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    for (let other = index - around; other <= index + around; other += 1) near.add(other);
  }
  const kept: ComparedLine[] = [];
  let leftOut = 0;
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) leftOut += 1;
    else {
      if (leftOut > 0) kept.push({ mark: '@', text: `${leftOut} lines unchanged` });
      leftOut = 0;
      kept.push(line);
    }
  }
  return kept;
}

/** What a skill asks for, by kind. Kinds without entries are left out (D6). */
type Asks = Readonly<Record<string, readonly string[]>>;

export function requestedPermissions({ definition, scripts }: SkillOffer): Asks {
  const { allowedTools = [], env, packages, programs, capabilities, network, model } = definition;
  const all: Asks = {
    tools: allowedTools.length === 0 ? ['every tool that a run may be given'] : allowedTools,
    'not tools': definition.disallowedTools ?? [],
    env,
    packages,
    programs,
    capabilities,
    network,
    model: model === undefined ? [] : [model],
    works: worksOf(definition),
    scripts: scripts.map(({ path, sha256 }) => `${path} sha256 ${sha256}`),
  };
  return Object.fromEntries(Object.entries(all).filter(([, items]) => items.length > 0));
}

/** What the new version asks for beyond the old one, one sentence for each request. */
export function requestsMore(before: Definition, after: Definition): readonly string[] {
  const more: string[] = [];
  for (const kind of ['env', 'packages', 'capabilities', 'network'] as const) {
    const added = after[kind].filter((item) => !before[kind].includes(item));
    if (added.length > 0) more.push(`${kind}: ${added.join(', ')}`);
  }
  const had = before.allowedTools ?? [];
  const tools = after.allowedTools ?? [];
  if (had.length > 0 && tools.length === 0) more.push('tools: every tool that a run may be given');
  const added = tools.filter((tool) => !had.includes(tool));
  if (had.length > 0 && added.length > 0) more.push(`tools: ${added.join(', ')}`);
  const kept = after.disallowedTools ?? [];
  const lifted = (before.disallowedTools ?? []).filter((tool) => !kept.includes(tool));
  if (lifted.length > 0) more.push(`tools: no longer without ${lifted.join(', ')}`);
  const { access: was } = before;
  const { access: is } = after;
  if (was.sensitive && !is.sensitive) more.push('it is no longer sensitive');
  const types = allowedChatTypesOf(after).filter((type) => !allowedChatTypesOf(before).includes(type));
  if (types.length > 0) more.push(`it works in ${types.join(', ')} chats too`);
  if (was.optIn && !is.optIn) more.push('it is on without config saying so');
  if (was.disableModelInvocation && !is.disableModelInvocation) more.push('a model may start it');
  if (!was.userInvocable && is.userInvocable) more.push('people may start it by name');
  if (!before.background && after.background) more.push('it runs in the background');
  if (before.context !== 'inline' && after.context === 'inline')
    more.push('its instructions go to the main agent itself');
  return more;
}

function worksOf(definition: Definition): readonly string[] {
  const { access, background, context } = definition;
  return [
    `in ${allowedChatTypesOf(definition).join(', ') || 'no'} chats`,
    ...(access.sensitive ? ['sensitive'] : []),
    ...(access.optIn ? ['off until config says enabled = true'] : []),
    ...(access.disableModelInvocation ? ['not started by a model'] : []),
    ...(access.userInvocable ? [] : ['not started by people']),
    ...(background ? ['in the background'] : []),
    ...(context === 'inline' ? ['inline: its instructions go to the main agent itself'] : []),
  ];
}
