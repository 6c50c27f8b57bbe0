import type { Skill } from '../core/skill.ts';

type Searched = Pick<Skill, 'name' | 'description' | 'tags'>;

/** Hits, at most (R2). */
const hitLimit = 25;

/**
 * Skills that fit a query, best first: each term of two characters or more scores 3 in the name, 2 in the description,
 * 1 for each tag that holds it; then by name; at most 25 (R2). The caller passes only what may be seen.
 */
export function searchSkills<Of extends Searched>(skills: readonly Of[], query: string): readonly Of[] {
  const terms = [...new Set(query.toLowerCase().split(/\s+/).map(trimPunctuation))].filter(
    (term) => [...term].length >= 2,
  );
  return skills
    .map((skill) => ({ skill, score: score(skill, terms) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
    .slice(0, hitLimit)
    .map(({ skill }) => skill);
}

function score(skill: Searched, terms: readonly string[]): number {
  const name = skill.name.toLowerCase();
  const description = skill.description.toLowerCase();
  let total = 0;
  for (const term of terms) {
    if (name.includes(term)) total += 3;
    if (description.includes(term)) total += 2;
    for (const tag of skill.tags) if (tag.toLowerCase().includes(term)) total += 1;
  }
  return total;
}

function trimPunctuation(term: string): string {
  return term.replace(/^[("'[]+|[)"'\],.;:!?]+$/g, '');
}
