import type { Diagnostic } from '../core/codes.ts';
import { origins, type Skill } from '../core/skill.ts';
import type { LastGood } from './last-good.ts';
import { mergeDefinitions, unapproved } from './parse/merge-definitions.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import {
  readRoots,
  type ReadOptions,
  type ReadSkill,
  type RootsReading,
  type SkillRoot,
} from './parse/read-roots.ts';
import { createRegistry, type Registry } from './registry.ts';
import type { Definition } from './parse/skill-definition.ts';
import type { IsApproved } from './written-skills.ts';

export type LoadOptions = Omit<ReadOptions, 'lastGood'> &
  Readonly<{
    lastGood?: LastGood;
    /** Skills made of one definition, kept from reading to reading: an unchanged file gives the same object. */
    made?: WeakMap<Definition, Skill>;
    /** Asked at each reading that finds a skill in the workspace; where it rejects, so does the reading (D9). */
    approvals?: () => Promise<IsApproved>;
    /** Told what was found where, good or not. */
    onRead?: (reading: RootsReading) => void;
  }>;

/** Reads all roots into a registry: later origins override earlier ones by name, and only ever tighten access (D1–D5). Never throws for what a file holds. */
export async function loadSkills(roots: readonly SkillRoot[], options: LoadOptions = {}): Promise<Registry> {
  const reading = await readRoots(roots, options);
  options.onRead?.(reading);
  const inWorkspace = reading.skills.some(({ origin }) => origin === 'workspace');
  const isApproved = inWorkspace ? await options.approvals?.() : undefined;
  const waits = ({ origin, stored: { directory } }: ReadSkill): boolean =>
    isApproved?.({ origin, directory }) === false;
  const byName = new Map<string, ReadSkill[]>();
  for (const skill of reading.skills) {
    const name = skill.result.ok ? skill.result.definition.name : skill.result.name;
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [skill]);
    else same.push(skill);
  }
  const diagnostics: Diagnostic[] = [...reading.diagnostics];
  const skills: Skill[] = [];
  const pace = createYieldToEventLoop();
  for (const [name, files] of byName) {
    await pace();
    for (const { result } of files) if (!result.ok) diagnostics.push(...result.diagnostics);
    const waiting = files.filter(waits);
    const inForce = files.filter((file) => !waiting.includes(file));
    const skill =
      inForce.length === 0 ? ofWaiting(waiting) : resolve(name, inForce, diagnostics, options.made);
    // It hides nothing: what else the name stands for continues (D3).
    if (inForce.length > 0) diagnostics.push(...waiting.map(({ stored }) => hiddenBehind(name, stored.path)));
    if (skill === undefined) continue;
    skills.push(skill);
    diagnostics.push(...skill.diagnostics);
  }
  return createRegistry(skills, diagnostics, options.lastGood);
}

/** A skill that waits for approval, so that it can be seen and enabled (D9); undefined if its file is broken. */
function ofWaiting(files: readonly ReadSkill[]): Skill | undefined {
  const [first] = [...files].sort(nearestFirst);
  return first?.result.ok === true ? unapproved(first.result.definition) : undefined;
}

function hiddenBehind(name: string, path: string): Diagnostic {
  const message = `this "${name}" was written by the bot, waits for approval, and is not used`;
  return { level: 'warning', code: 'WAITS_FOR_APPROVAL', message, path };
}

/** The skill of one name out of all its files; nothing when none is good, or when what should restrict it cannot be read. */
function resolve(
  name: string,
  files: readonly ReadSkill[],
  diagnostics: Diagnostic[],
  made: WeakMap<Definition, Skill> = new WeakMap(),
): Skill | undefined {
  const ordered = [...files].sort(nearestFirst);
  const broken = ordered.find(({ result }) => !result.ok && result.accessBroken);
  const inUse: Definition[] = [];
  for (const { result, stored, origin } of ordered) {
    if (!result.ok) continue;
    const first = inUse.find((definition) => definition.origin === origin);
    if (first === undefined) inUse.push(result.definition);
    else {
      const message = `"${name}" is already defined in the same place by ${first.path}; this file is not used`;
      diagnostics.push({ level: 'warning', code: 'DUPLICATE_NAME', message, path: stored.path });
    }
  }
  const [own, ...shadowed] = inUse;
  if (own === undefined) return undefined;
  const standsAlone =
    own.origin === 'user' && (broken === undefined || rank(broken) < origins.indexOf('user'));
  if (broken !== undefined && !standsAlone) {
    const message = `"${name}" is off until ${broken.stored.path} is fixed: what it says of access cannot be read`;
    diagnostics.push({ level: 'error', code: 'SKILL_OFF', message, path: broken.stored.path });
    return undefined;
  }
  if (shadowed.length > 0) return mergeDefinitions(own, shadowed);
  const skill = made.get(own) ?? mergeDefinitions(own, []);
  made.set(own, skill);
  return skill;
}

/** D1, then D2: a folder before a flat file, then path order. */
function nearestFirst(a: ReadSkill, b: ReadSkill): number {
  const flat = (skill: ReadSkill): number => (skill.stored.directory === undefined ? 1 : 0);
  return rank(b) - rank(a) || flat(a) - flat(b) || (a.stored.path < b.stored.path ? -1 : 1);
}

function rank({ origin }: ReadSkill): number {
  return origins.indexOf(origin);
}
