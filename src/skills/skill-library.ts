import { statSync, watch, type FSWatcher } from 'node:fs';
import { join, basename, dirname } from 'node:path';
import type { Diagnostic } from '../core/codes.ts';
import type { Skill } from '../core/skill.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createNewSince } from '../lib/text/text.ts';
import { createLastGood } from './last-good.ts';
import { loadSkills, type Remembered, type SkillRoot } from './load-skills.ts';
import { bodyReadLimit } from './read-body.ts';
import type { Definition } from './parse/skill-definition.ts';
import type { Registry } from './registry.ts';
import type { SkillStore, StoredSkill } from './skill-store.ts';
import type { IsApproved } from './written-skills.ts';

/** All skills, kept up to date with their files (D7). */
export type SkillLibrary = Readonly<{
  current(): Registry;
  /**
   * Reads the skills again, and returns a registry no older than this call. It is the same object if nothing changed.
   */
  rescan(): Promise<Registry>;
  watch(onChange: (registry: Registry) => void): void;
  /** Resolves once the last good versions are stored. */
  close(): Promise<void>;
}>;

/** Milliseconds to wait after a change: editors write, rename and remove in a burst, which is read once. */
const burstMs = 40;

type LibraryOptions = Readonly<{
  roots: readonly SkillRoot[];
  /** The folder for caches. Last good versions are in its folder `skills` (F9). */
  cacheDir: string;
  log: Log;
  /** Load only what `skillet skill validate` accepts. */
  strict?: boolean;
  approvals?: () => Promise<IsApproved>;
  clock?: Clock;
}>;

export async function createSkillLibrary(options: LibraryOptions): Promise<SkillLibrary> {
  const { log, clock = systemClock } = options;
  const { load, keepGood, kept, folders } = createLoad(options);
  const isNew = createNewSince<Diagnostic>();
  const stopping = new AbortController();
  const listeners: ((registry: Registry) => void)[] = [];
  let folderWatch: FolderWatch | undefined;

  let registry = await load();
  keepGood({ isFirst: true });
  report(registry, isNew(registry.diagnostics), log);

  const scan = async (): Promise<Registry> => {
    let fresh = await load();
    // A file may have changed between its reading and the first watch of its folder.
    while ((await folderWatch?.follow(folders())) === true) fresh = await load();
    keepGood();
    if (!isSame(registry, fresh)) {
      registry = fresh;
      report(registry, isNew(registry.diagnostics), log);
      for (const listener of listeners) listener(registry);
    }
    return registry;
  };
  const { rescan, idle } = createRescan(scan);
  const rescanLater = (): void =>
    void rescan().catch((error: unknown) => log.error({ err: error }, 'could not reload the skills'));

  return Object.freeze({
    current: () => registry,
    rescan,
    watch(onChange: (registry: Registry) => void) {
      listeners.push(onChange);
      folderWatch ??= watchFolders(oncePerBurst(rescanLater, clock, stopping.signal), log);
      rescanLater();
    },
    async close() {
      stopping.abort();
      folderWatch?.close();
      await idle();
      await kept();
    },
  });
}

/** Makes the function that loads all skills, and the one that stores the last good versions of those it has read. */
function createLoad({ roots, cacheDir, strict = false, approvals, log }: LibraryOptions) {
  const lastGood = createLastGood(join(cacheDir, 'skills'));
  const remembered = new Map<string, Remembered>();
  const made = new WeakMap<Definition, Skill>();
  let pending: { stored: StoredSkill; store: SkillStore; bytes: Uint8Array | undefined }[] = [];
  let folders: readonly string[] = [];
  let paths: ReadonlySet<string> = new Set();
  let keeping = Promise.resolve();

  /** Yields to the event loop in between. Files that change meanwhile are stored at the next reading. */
  const keep = async (): Promise<void> => {
    const pace = createYieldToEventLoop();
    const now = pending;
    pending = [];
    for (const { stored, store, bytes } of now) {
      await pace();
      const again = bytes === undefined ? await store.load(stored, bodyReadLimit) : undefined;
      if (bytes !== undefined) lastGood.keep(stored.path, stored.stamp, bytes);
      else if (again?.ok === true && again.stamp === stored.stamp)
        lastGood.keep(stored.path, stored.stamp, again.bytes);
    }
    lastGood.flush();
  };

  return {
    load: (): Promise<Registry> =>
      loadSkills(roots, {
        strict,
        remembered,
        made,
        lastGood,
        approvals,
        onGood(stored, store, bytes) {
          if (!lastGood.has(stored.path, stored.stamp)) pending.push({ stored, store, bytes });
        },
        onRead(reading) {
          folders = [...reading.folders, ...roots.flatMap((root) => ('path' in root ? [root.path] : []))];
          paths = new Set(reading.skills.map(({ stored }) => stored.path));
        },
      }),
    /** All folders that the last load has read. */
    folders: () => folders,
    /** Stores them in the background. `isFirst` also removes what belongs to no skill any more. */
    keepGood({ isFirst = false } = {}): void {
      if (isFirst) lastGood.retain(paths);
      if (isFirst || pending.length > 0)
        keeping = keeping
          .then(keep)
          .catch((error: unknown) =>
            log.error({ err: error }, 'could not keep the last valid versions of skills'),
          );
    },
    /** Resolves once all is stored. */
    kept: () => keeping,
  };
}

/** One scan at a time. Calls during a scan share the next one, because the running one may have passed their file. */
function createRescan(scan: () => Promise<Registry>) {
  let scanning: Promise<Registry> | undefined;
  let next: Promise<Registry> | undefined;

  function begin(): Promise<Registry> {
    next = undefined;
    scanning = scan().finally(() => {
      scanning = undefined;
    });
    return scanning;
  }

  return {
    rescan(): Promise<Registry> {
      if (scanning === undefined) return begin();
      next ??= scanning.then(begin, begin);
      return next;
    },
    async idle(): Promise<void> {
      await Promise.allSettled([next ?? scanning]);
    },
  };
}

/** Calls `work` once for all calls within a burst, when the burst is over. */
function oncePerBurst(work: () => void, clock: Clock, stopping: AbortSignal): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    const end = (): void => {
      waits = false;
      work();
    };
    // This rejects only when the library closes.
    clock.sleep(burstMs, stopping).then(end, () => undefined);
  };
}

function report({ skills, diagnostics }: Registry, fresh: readonly Diagnostic[], log: Log): void {
  for (const diagnostic of fresh) {
    const fields = { code: diagnostic.code, path: diagnostic.path, line: diagnostic.line };
    if (diagnostic.level === 'error') log.warn(fields, diagnostic.message);
    else log.info(fields, diagnostic.message);
  }
  log.info({ skills: skills.length, diagnostics: diagnostics.length }, 'skills are loaded');
}

function isSame(before: Registry, after: Registry): boolean {
  const alike = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
  return (
    before.skills.length === after.skills.length &&
    before.skills.every((skill, index) => alike(skill, after.skills[index])) &&
    alike(before.diagnostics, after.diagnostics)
  );
}

type FolderWatch = Readonly<{
  /**
   * Replaces the set of watched folders. A folder that does not exist is awaited through its nearest parent. Returns
   * true if a watch is new, so that a change just before it may have been missed.
   */
  follow(folders: readonly string[]): Promise<boolean>;
  close(): void;
}>;

/** Watches folders. One that can't be watched is logged once and left out. */
function watchFolders(onChange: () => void, log: Log): FolderWatch {
  const watches = new Map<string, Readonly<{ watcher: FSWatcher | undefined; identity: string }>>();
  let closed = false;
  let complained = false;

  const complain = (folder: string, error: unknown): void => {
    if (complained) return;
    complained = true;
    log.warn(
      { folder, err: error },
      'a skill folder cannot be watched: changes there count when a name is not found',
    );
  };

  const drop = (key: string): void => {
    watches.get(key)?.watcher?.close();
    watches.delete(key);
  };

  const start = ({ folder, entry }: Place): FSWatcher | undefined => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // A parent such as the home folder changes often, so only the awaited entry counts.
        if (entry === undefined || name === entry) onChange();
      });
      watcher.on('error', (error) => complain(folder, error));
      return watcher;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      complain(folder, error);
      return undefined;
    }
  };

  return Object.freeze({
    async follow(folders: readonly string[]) {
      const wanted = new Set(folders);
      const pace = createYieldToEventLoop();
      let began = false;
      for (const key of [...watches.keys()]) if (!wanted.has(key)) drop(key);
      for (const key of wanted) {
        await pace();
        if (closed) return false;
        const place = nearestExisting(key);
        if (watches.get(key)?.identity === place.identity) continue;
        drop(key);
        watches.set(key, { watcher: start(place), identity: place.identity });
        began = true;
      }
      return began;
    },
    close() {
      closed = true;
      for (const key of [...watches.keys()]) drop(key);
    },
  });
}

type Place = Readonly<{
  folder: string;
  /** Name of the entry that is awaited in `folder`. Undefined if `folder` is the wanted one. */
  entry: string | undefined;
  identity: string;
}>;

function nearestExisting(wanted: string, entry?: string): Place {
  const stats = statSync(wanted, { bigint: true, throwIfNoEntry: false });
  const parent = dirname(wanted);
  if (stats === undefined && parent !== wanted) return nearestExisting(parent, basename(wanted));
  const identity = `${wanted}:${stats?.dev}:${stats?.ino}:${stats?.birthtimeNs}`;
  return { folder: wanted, entry, identity };
}
