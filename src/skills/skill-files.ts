import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { Skill } from '../core/skill.ts';
import { isSkillFileName } from './scan-root.ts';

/** The files of a skill, by paths relative to its folder with `/` (R3). */
export type SkillFiles = Readonly<{
  /** In path order, without the SKILL.md. */
  files: readonly string[];
  /** Those of them that can be run: below `scripts/`, or with a known ending (R5). */
  scripts: readonly string[];
  /** There are more than 100, or some lie deeper than 6 folders. */
  cut: boolean;
}>;

const fileLimit = 100;
const depthLimit = 6;

/** Lists a skill's files: no dot entries, no links, no `node_modules`, no name that could pass for a line of its own (R3), of an installed skill nothing that was not agreed to (D6). A flat skill has none. */
export function listSkillFiles(skill: Pick<Skill, 'directory' | 'pin'>): SkillFiles {
  const pinned = skill.pin === undefined ? undefined : new Set(skill.pin.files.map(({ path }) => path));
  const found: string[] = [];
  let cut = false;
  const enter = (folder: string, way: string, depth: number): void => {
    for (const entry of readSorted(folder)) {
      if (cut && found.length >= fileLimit) return;
      const path = way + entry.name;
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || unprintable.test(entry.name))
        continue;
      if (entry.isDirectory()) {
        if (depth < depthLimit) enter(join(folder, entry.name), `${path}/`, depth + 1);
        else cut = true;
      } else if (pinned !== undefined && !pinned.has(path)) {
        continue;
      } else if (entry.isFile() && !(way === '' && isSkillFileName(entry.name))) {
        if (found.length < fileLimit) found.push(path);
        else cut = true;
      }
    }
  };
  if (skill.directory !== undefined) enter(skill.directory, '', 1);
  const files = found.sort();
  return { files, scripts: files.filter(isScriptPath), cut };
}

const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029\\]/u;

/** Whether a file of a skill can be run: below `scripts/`, or with a known ending (R5). */
export function isScriptPath(path: string): boolean {
  return path.startsWith('scripts/') || /\.(?:sh|py|js|mjs|ts)$/.test(path);
}

/** The specification's own folders come first, so that a cut takes the others. */
function rank({ name }: Dirent): number {
  const place = ['scripts', 'references', 'assets'].indexOf(name);
  return place === -1 ? 3 : place;
}

function readSorted(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1),
    );
  } catch (error) {
    // Removed or closed off since the skill was loaded: it has no files then.
    if (error instanceof Error && 'syscall' in error) return [];
    throw error;
  }
}
