import type { Skill } from './skill.ts';
import { withoutEnd } from '../lib/text/text.ts';

type Searched = Pick<Skill, 'name' | 'description' | 'whenToUse' | 'tags'>;

/** Skills in lower case, so that each snapshot is lowered once. */
export type SearchMemory = WeakMap<Searched, Lowered>;
type Lowered = Readonly<{
  name: string;
  description: string;
  tags: readonly string[];
  all: string;
}>;

const hitLimit = 25;

/**
 * Each term of two characters or more scores 3 in the name, 2 in the description, 1 a tag (R2). At most 25, best
 * first. Pass visible skills only.
 */
export function searchSkills<Of extends Searched>(
  skills: readonly Of[],
  query: string,
  memory: SearchMemory = new WeakMap(),
): readonly Of[] {
  const terms = [
    ...new Set(
      query
        .toLowerCase()
        .split(/[\s_-]+/)
        .map(trimPunctuation),
    ),
  ].filter((term) => [...term].length >= 2);
  const best: Hit<Of>[] = [];
  for (const skill of skills) {
    const points = score(lowered(skill, memory), terms);
    if (points === 0) continue;
    const hit = { skill, score: points };
    const last = best.length === hitLimit ? best.at(-1) : undefined;
    if (last !== undefined && !isBefore(hit, last)) continue;
    const place = best.findIndex((other) => isBefore(hit, other));
    best.splice(place < 0 ? best.length : place, 0, hit);
    if (best.length > hitLimit) best.pop();
  }
  return best.map(({ skill }) => skill);
}

type Hit<Of> = Readonly<{ skill: Of; score: number }>;

function isBefore(a: Hit<Searched>, b: Hit<Searched>): boolean {
  return a.score > b.score || (a.score === b.score && a.skill.name < b.skill.name);
}

function lowered(skill: Searched, memory: SearchMemory): Lowered {
  const known = memory.get(skill);
  if (known !== undefined) return known;
  const name = oneSpelling(skill.name);
  const description = oneSpelling(`${skill.description} ${skill.whenToUse ?? ''}`);
  const tags = skill.tags.map(oneSpelling);
  const made = { name, description, tags, all: [name, description, ...tags].join('\n') };
  memory.set(skill, made);
  return made;
}

function score({ name, description, tags, all }: Lowered, terms: readonly string[]): number {
  let total = 0;
  for (const term of terms) {
    if (!all.includes(term)) continue;
    if (name.includes(term)) total += 3;
    if (description.includes(term)) total += 2;
    for (const tag of tags) if (tag.includes(term)) total += 1;
  }
  return total;
}

/** Menus of platforms write `pdf_editing` for `pdf-editing`, so both count as one spelling. */
function oneSpelling(text: string): string {
  return text.toLowerCase().replaceAll('_', '-');
}

function trimPunctuation(term: string): string {
  return withoutEnd(term.replace(/^[("'[]+/, ''), ')"\'],.;:!?');
}
