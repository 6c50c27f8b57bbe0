import { origins, type SkillOrigin, type Skill } from '../core/skill.ts';
import type { Diagnostic } from '../core/codes.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import type { LastGood } from './last-good.ts';
import {
  mergeDefinitions,
  unapproved,
  type Definition,
  type ParseResult,
  type SkillPlace,
} from './parse/skill-definition.ts';
import { parseSkill } from './parse/parse-skill.ts';
import { isValid, validateSkill } from './parse/validate-skill.ts';
import { createRegistry, type Registry } from './registry.ts';
import { fileSkillStore, type SkillStore, type StoredSkill } from './skill-store.ts';
import type { IsApproved } from './written-skills.ts';

type LoadOptions = Omit<ReadOptions, 'lastGood'> &
  Readonly<{
    lastGood?: LastGood;
    /** Skills by their definition, so that an unchanged file gives the same object at each reading. */
    made?: WeakMap<Definition, Skill>;
    /**
     * Says which workspace skills are approved. Called only if there are any; if it rejects, the reading does, too
     * (D9).
     */
    approvals?: () => Promise<IsApproved>;
    onRead?: (reading: RootsReading) => void;
  }>;

/**
 * Reads all skills. Later origins override earlier ones of the same name, and can only make access stricter (D1–D5).
 * Never throws for the content of a file.
 */
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
    // A skill that waits for approval hides nothing: the other definition of its name stays in use (D3).
    if (inForce.length > 0) diagnostics.push(...waiting.map(({ stored }) => hiddenBehind(name, stored.path)));
    if (skill === undefined) continue;
    skills.push(skill);
    diagnostics.push(...skill.diagnostics);
  }
  return createRegistry(skills, diagnostics, options.lastGood);
}

/** A skill that waits for approval (D9). Undefined if its file is broken. */
function ofWaiting(files: readonly ReadSkill[]): Skill | undefined {
  const [first] = [...files].sort(nearestFirst);
  return first?.result.ok === true ? unapproved(first.result.definition) : undefined;
}

function hiddenBehind(name: string, path: string): Diagnostic {
  const message = `this "${name}" was written by the bot, waits for approval, and is not used`;
  return { level: 'warning', code: 'WAITS_FOR_APPROVAL', message, path };
}

/** The skill of a name. Undefined if no file of it is good, or if one that should restrict it can't be read. */
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

/** The order of files with the same name: by origin (D1), then folders before flat files, then by path (D2). */
function nearestFirst(a: ReadSkill, b: ReadSkill): number {
  const flat = (skill: ReadSkill): number => (skill.stored.directory === undefined ? 1 : 0);
  return rank(b) - rank(a) || flat(a) - flat(b) || (a.stored.path < b.stored.path ? -1 : 1);
}

function rank({ origin }: ReadSkill): number {
  return origins.indexOf(origin);
}

/** Where skills are: a folder, or another store (D8). */
export type SkillRoot = Readonly<{ origin: SkillOrigin } & ({ path: string } | { store: SkillStore })>;

/** How many bytes of each file are read for its definition (F9). */
export const readLimit = 64 * 1024;

export type Remembered = Readonly<{ stamp: string; result: ParseResult }>;

type ReadSkill = Readonly<{ origin: SkillOrigin; stored: StoredSkill; result: ParseResult }>;

type ReadOptions = Readonly<{
  /** Load only what `skillet skill validate` accepts. */
  strict?: boolean;
  /** Results of earlier readings by path. They are used and updated. */
  remembered?: Map<string, Remembered>;
  lastGood?: LastGood;
  onGood?: (stored: StoredSkill, store: SkillStore, bytes: Uint8Array | undefined) => void;
}>;

type RootsReading = Readonly<{
  skills: readonly ReadSkill[];
  diagnostics: readonly Diagnostic[];
  folders: readonly string[];
}>;

/** File systems have coarse clocks: a file that changes again within this time may keep its stamp. */
const stampDoubtMs = 100;

/**
 * Reads all files of the roots, and yields to the event loop in between (B6). Files that did not change come from
 * memory. A broken file is a value, and its last good version replaces it if that is safe (D7).
 */
async function readRoots(roots: readonly SkillRoot[], options: ReadOptions = {}): Promise<RootsReading> {
  const { remembered = new Map<string, Remembered>() } = options;
  const skills: ReadSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  const folders: string[] = [];
  const seen = new Set<string>();
  const pace = createYieldToEventLoop();
  for (const root of roots) {
    const store = 'store' in root ? root.store : fileSkillStore(root.path);
    const rootPath = 'store' in root ? undefined : root.path;
    const listed = await store.list();
    diagnostics.push(...listed.diagnostics);
    folders.push(...store.folders());
    for (const stored of listed.skills) {
      await pace();
      seen.add(stored.path);
      const known = remembered.get(stored.path);
      if (known?.stamp === stored.stamp) {
        skills.push({ origin: root.origin, stored, result: known.result });
        continue;
      }
      const { result, stamp } = await readOne(
        store,
        stored,
        { origin: root.origin, root: rootPath },
        options,
      );
      if (isSettled(stamp)) remembered.set(stored.path, { stamp, result });
      else remembered.delete(stored.path);
      skills.push({ origin: root.origin, stored, result });
    }
  }
  for (const path of [...remembered.keys()]) if (!seen.has(path)) remembered.delete(path);
  return { skills, diagnostics, folders };
}

async function readOne(
  store: SkillStore,
  stored: StoredSkill,
  from: Pick<SkillPlace, 'origin' | 'root'>,
  options: ReadOptions,
): Promise<Readonly<{ result: ParseResult; stamp: string }>> {
  const { path, directory } = stored;
  const place = { path, directory, ...from };
  const loaded = await store.load(stored, readLimit);
  const stamp = loaded.ok ? loaded.stamp : stored.stamp;
  const result: ParseResult = loaded.ok
    ? judge({ ...place, bytes: loaded.bytes, cut: loaded.cut }, stored, options.strict === true)
    : unread(loaded.diagnostic, stored);
  if (stored.pin !== undefined) return { result, stamp };
  if (result.ok) {
    options.onGood?.({ ...stored, stamp }, store, loaded.ok && !loaded.cut ? loaded.bytes : undefined);
    return { result, stamp };
  }
  const kept = result.accessBroken ? undefined : options.lastGood?.read(path);
  if (kept === undefined) return { result, stamp };
  const last = judge({ ...place, bytes: kept, cut: false }, stored, options.strict === true);
  if (!last.ok) return { result, stamp };
  const message = 'the file is broken; its last good version is used until it is fixed';
  const note: Diagnostic = { level: 'warning', code: 'LAST_GOOD_KEPT', message, path };
  const diagnostics = [...result.diagnostics, note];
  return { result: { ok: true, definition: Object.freeze({ ...last.definition, diagnostics }) }, stamp };
}

/**
 * A pinned file that changed may have restricted access, so its name is off, together with other copies of it (D6, D3).
 */
function unread(diagnostic: Diagnostic, { pin }: StoredSkill): ParseResult {
  return { ok: false, diagnostics: [diagnostic], name: pin?.name ?? '', accessBroken: pin !== undefined };
}

/** Parses a skill file. If `strict`, the file also has to pass `skillet skill validate` (F5). */
export function judge(
  source: SkillPlace,
  stored: Pick<StoredSkill, 'pin' | 'diagnostics'>,
  strict: boolean,
): ParseResult {
  const parsed = parseSkill(source);
  if (!parsed.ok) return parsed;
  const { definition } = parsed;
  if (strict) {
    const problems = validateSkill(source);
    if (!isValid(problems))
      return { ok: false, diagnostics: problems, name: definition.name, accessBroken: false };
  }
  const { pin } = stored;
  if (stored.diagnostics.length === 0 && pin === undefined) return parsed;
  const diagnostics = Object.freeze([...stored.diagnostics, ...definition.diagnostics]);
  return { ok: true, definition: Object.freeze({ ...definition, pin, diagnostics }) };
}

/** Whether the file is old enough that another change would give it another stamp. */
function isSettled(stamp: string): boolean {
  const changed = Number(stamp.split(':').at(-1) ?? 0) / 1e6;
  return !(Date.now() - changed < stampDoubtMs);
}
