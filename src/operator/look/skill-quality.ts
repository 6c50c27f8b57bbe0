import type { Feedback } from '../../store/feedback.ts';

/** What people think of one version of a skill (U17). */
export type SkillQuality = Readonly<{
  skill: string;
  /** The hash of its files without its tests. */
  version: string;
  up: number;
  down: number;
  /** When its first and its last thumb were given, in milliseconds since 1970. */
  first: number;
  last: number;
}>;

/** Counts thumbs by skill and version: skills by name, the versions of each in the order of their first thumb. */
export function skillQuality(all: readonly Feedback[]): readonly SkillQuality[] {
  const rows = new Map<string, SkillQuality>();
  for (const { thumb, at, about } of all)
    for (const { name: skill, version } of about.skills) {
      const key = `${skill} ${version}`;
      const row = rows.get(key) ?? { skill, version, up: 0, down: 0, first: at, last: at };
      rows.set(key, { ...row, [thumb]: row[thumb] + 1, last: Math.max(row.last, at) });
    }
  return [...rows.values()].sort((a, b) =>
    a.skill === b.skill ? a.first - b.first : a.skill < b.skill ? -1 : 1,
  );
}

/** Characters of a version that people are shown. */
export const shownVersion = 8;
