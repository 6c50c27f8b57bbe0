import type { Diagnostic } from '../../core/codes.ts';
import type { Origin } from '../../core/skill.ts';
import { fileSkillStore, type SkillStore, type StoredSkill } from '../skill-store.ts';
import type { LastGood } from '../last-good.ts';
import { createYieldToEventLoop } from '../../lib/async/mutex.ts';
import { parseSkill } from './parse-skill.ts';
import { reservedNames } from '../prepare-draft.ts';
import type { ParseResult, SkillSource } from './skill-definition.ts';
import { refusedWhenStrict, validateSkill } from './validate-skill.ts';

/** A place to load skills from: a folder, or a store of another kind (D8). */
export type SkillRoot = Readonly<{ origin: Origin } & ({ path: string } | { store: SkillStore })>;

/** Of each file, at most this much is read to know what it defines (F9). */
export const readLimit = 64 * 1024;

/** What was read of a file, for as long as its stamp stays the same. */
export type Remembered = Readonly<{ stamp: string; result: ParseResult }>;

/** One file with what it says, or why it says nothing. */
export type ReadSkill = Readonly<{ origin: Origin; stored: StoredSkill; result: ParseResult }>;

export type ReadOptions = Readonly<{
  /** Load only what `skillet skill validate` passes. */
  strict?: boolean;
  /** Results of an earlier reading, by path; brought up to date. */
  remembered?: Map<string, Remembered>;
  lastGood?: Pick<LastGood, 'read'>;
  /** Told of each file that was read again and is good. */
  onGood?: (stored: StoredSkill, store: SkillStore, bytes: Uint8Array | undefined) => void;
}>;

export type RootsReading = Readonly<{
  skills: readonly ReadSkill[];
  diagnostics: readonly Diagnostic[];
  /** Folders in which changes matter. */
  folders: readonly string[];
}>;

/** A change within this time of the reading may keep the same stamp: clocks of file systems tick slowly. */
const stampDoubtMs = 100;

/** Reads every skill file of every root, unchanged ones from memory, giving way to other work in between (B6). A broken file is a value, its last good version stands in for it where that is safe (D7). */
export async function readRoots(
  roots: readonly SkillRoot[],
  options: ReadOptions = {},
): Promise<RootsReading> {
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
        { origin: root.origin, ...place(rootPath) },
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
  from: Pick<SkillSource, 'origin' | 'root'>,
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

/** Nobody knows what a pinned file that changed would say of access, so its name is off, other copies included (D6, D3). */
function unread(diagnostic: Diagnostic, { pin }: StoredSkill): ParseResult {
  return { ok: false, diagnostics: [diagnostic], name: pin?.name ?? '', accessBroken: pin !== undefined };
}

/** What a skill file says, as the bot takes it: parsed, its name allowed, and valid where `strict`. */
export function judge(
  source: SkillSource,
  stored: Pick<StoredSkill, 'pin' | 'diagnostics'>,
  strict: boolean,
): ParseResult {
  const parsed = parseSkill(source);
  if (!parsed.ok) return parsed;
  const { definition } = parsed;
  const { name, path } = definition;
  if (reservedNames.has(name)) {
    const message = `"${name}" is a key of [skills] in the config; give the skill another name`;
    const diagnostics: Diagnostic[] = [
      { level: 'error', code: 'NAME_RESERVED', message, path, field: 'name' },
    ];
    return { ok: false, diagnostics, name, accessBroken: false };
  }
  if (strict) {
    const problems = validateSkill(source);
    if (problems.some(refusedWhenStrict))
      return { ok: false, diagnostics: problems, name, accessBroken: false };
  }
  const { pin } = stored;
  if (stored.diagnostics.length === 0 && pin === undefined) return parsed;
  const diagnostics = Object.freeze([...stored.diagnostics, ...definition.diagnostics]);
  const pinned = pin === undefined ? {} : { pin };
  return { ok: true, definition: Object.freeze({ ...definition, ...pinned, diagnostics }) };
}

function place(root: string | undefined): Readonly<{ root?: string }> {
  return root === undefined ? {} : { root };
}

/** Whether a further change would show: the last one is old enough. */
function isSettled(stamp: string): boolean {
  const changed = Number(stamp.split(':').at(-1) ?? 0) / 1e6;
  return !(Date.now() - changed < stampDoubtMs);
}
