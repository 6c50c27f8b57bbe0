import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Diagnostic } from '../../core/codes.ts';
import type { Pin, Skill } from '../../core/skill.ts';
import { createYieldToEventLoop } from '../../lib/async/mutex.ts';
import type { Sandbox, SandboxFolders } from '../../sandbox/sandbox.ts';
import { checkPinned, pinBroken, readPinned, type HashMemory } from './hash-skill.ts';
import { installedFolder, installedRoot, pinOf, readLock } from './lock-file.ts';
import { isSkillFileName } from '../scan-root.ts';
import { readSkillFile } from '../skill-files.ts';
import type { SkillStore, StoredBytes, StoredSkill } from '../skill-store.ts';

/** The skills of the lock whose folders have exactly the files that were approved (D6). */
export function lockedSkillStore(dataDir: string): SkillStore {
  const memory: HashMemory = new Map();
  const root = installedRoot(dataDir);
  let folders: readonly string[] = [root];
  return Object.freeze({
    async list() {
      const reading = readLock(dataDir);
      folders = [root];
      if (!reading.ok) return { skills: [], diagnostics: [lockBroken(reading)] };
      const pace = createYieldToEventLoop();
      const skills: StoredSkill[] = [];
      for (const source of reading.lock.sources) {
        for (const locked of source.skills) {
          await pace();
          const pin = pinOf(source, locked);
          const directory = installedFolder(dataDir, locked);
          const problem = checkPinned(directory, pin.files, memory);
          const path = join(directory, skillFileOf(pin.files));
          skills.push({ path, directory, stamp: stampOf(path, problem), pin, diagnostics: [] });
          folders = [...folders, ...foldersOf(directory, pin)];
        }
      }
      return { skills: skills.sort(byFolderName), diagnostics: [] };
    },
    async load(skill: StoredSkill, limit: number): Promise<StoredBytes> {
      const { path, pin } = skill;
      if (pin === undefined) return broken(path, 'is in no lock');
      const directory = dirname(path);
      const problem = checkPinned(directory, pin.files, memory);
      if (problem !== undefined) return broken(path, pinBroken(pin, problem));
      const file = readPinned(directory, pin.files, basename(path));
      if (!file.ok) return broken(path, pinBroken(pin, file.problem));
      const cut = file.bytes.length > limit;
      return { ok: true, bytes: file.bytes.subarray(0, limit), cut, stamp: stampOf(path, undefined) };
    },
    readFile: async (skill: StoredSkill, path: string) => readSkillFile(skill, path),
    folders: () => folders,
  });
}

/** Compares by the last folder, because the folders above are named by hashes. */
function byFolderName(a: StoredSkill, b: StoredSkill): number {
  return basename(a.directory ?? a.path) < basename(b.directory ?? b.path) ? -1 : 1;
}

export function lockBroken({ path, problem }: Readonly<{ path: string; problem: string }>): Diagnostic {
  const message = `can't be read, so no installed skill is used; put it back from a backup, or remove it and add the sources again: ${problem}`;
  return { level: 'error', code: 'LOCK_BROKEN', message, path };
}

export function skillFileOf(files: Pin['files']): string {
  const names = files.map(({ path }) => path).filter(isSkillFileName);
  return ['SKILL.md', 'skill.md', 'Skill.md'].find((name) => names.includes(name)) ?? 'SKILL.md';
}

/** The part after the last colon is a time, which `readRoots` uses. */
function stampOf(path: string, problem: string | undefined): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return `${problem ?? 'agreed'}:${stats?.ino}:${stats?.size}:${stats?.mtimeNs}:${stats?.ctimeNs ?? 0}`;
}

function foldersOf(directory: string, { files }: Pin): readonly string[] {
  return [...new Set([directory, ...files.map(({ path }) => dirname(join(directory, path)))])];
}

function broken(path: string, message: string): StoredBytes {
  return { ok: false, diagnostic: { level: 'error', code: 'LOCK_MISMATCH', message, path } };
}

/** Hashes all files of an installed skill again before each of its commands (D6). */
export function lockedSandbox(sandbox: Sandbox, { pin }: Skill): Sandbox {
  if (pin === undefined) return sandbox;
  const checked = async <Outcome>(
    { skillDirectory }: SandboxFolders,
    use: () => Promise<Outcome>,
  ): Promise<Outcome | Readonly<{ status: 'unavailable'; message: string }>> => {
    const problem = skillDirectory === undefined ? undefined : checkPinned(skillDirectory, pin.files);
    return problem === undefined ? use() : { status: 'unavailable', message: pinBroken(pin, problem) };
  };
  const { shell } = sandbox;
  return {
    ...sandbox,
    run: (request) => checked(request, () => sandbox.run(request)),
    shell: shell && ((request) => checked(request, () => shell(request))),
  };
}
