import type { Skill } from '../core/skill.ts';

export type CatalogueOptions = Readonly<{
  format: 'markdown' | 'xml';
  budgetChars: number;
  includeLocation?: boolean;
}>;

export type Catalogue = Readonly<{
  /** A section of the system prompt. Empty without skills (P3). */
  text: string;
  shortened: number;
  hidden: number;
}>;

type Listed = Pick<Skill, 'name' | 'description' | 'whenToUse' | 'path'>;

/** Says how to use skills (P1). It is short, because every turn pays for it. */
const heading = `## Skills
Check these before replying. If one clearly applies, call use_skill with the one that fits best; else answer yourself.
`;
/** Descriptions are not cut below this many characters, as long as names alone would still fit (P4). */
const descriptionFloor = 60;

/**
 * How many characters the catalogue may have: 2 % of the context window at 4 characters a token, between 4,000 and
 * 16,000. An unknown window allows 16,000 (P4).
 */
export function catalogueBudget(contextWindow: number | undefined, override?: number): number {
  if (override !== undefined) return override;
  if (contextWindow === undefined) return 16_000;
  return Math.min(16_000, Math.max(4_000, Math.floor(contextWindow * 4 * 0.02)));
}

/**
 * Lists skills, which the caller has filtered (A8), sorted by name; the same skills give the same text (P1–P3). If it
 * is over its budget, descriptions are first cut evenly down to 60 characters. Then they are left out from the end,
 * then names are; a last line says how many skills only `skills_search` finds (P4).
 */
export function renderCatalogue(skills: readonly Listed[], options: CatalogueOptions): Catalogue {
  if (skills.length === 0) return { text: '', shortened: 0, hidden: 0 };
  const sorted = byName(skills);
  const all = sorted.length;
  const room = options.budgetChars - frame([], 0, options).length;

  const full = linesWithin(sorted, room, (skill) => entry(skill, described(skill), options));
  if (full.length === all) return { text: frame(full, 0, options), shortened: 0, hidden: 0 };
  const bare = linesWithin(sorted, room, (skill) => entry(skill, '', options));
  if (bare.length < all) {
    const named = linesWithin(sorted, room - `+${all} more: use skills_search\n`.length, (skill) =>
      entry(skill, '', options),
    );
    return {
      text: frame(named, all - named.length, options),
      shortened: named.length,
      hidden: all - named.length,
    };
  }
  const flat = sorted.map(described);
  const cutTo = (cap: number): readonly string[] =>
    sorted.map((skill, index) => entry(skill, cut(flat[index] ?? '', cap), options));
  const result = (lines: readonly string[], shortened: number): Catalogue => {
    return { text: frame(lines, 0, options), shortened, hidden: 0 };
  };

  const floor = cutTo(descriptionFloor);
  if (sizeOf(floor) > room) {
    const kept = mostDescribed(floor, bare, room);
    const whole = flat.slice(0, kept).filter(({ length }) => length <= descriptionFloor).length;
    return result([...floor.slice(0, kept), ...bare.slice(kept)], all - whole);
  }
  const longest = flat.reduce((most, { length }) => Math.max(most, length), descriptionFloor);
  let [cap, tooLong] = [descriptionFloor, longest];
  while (tooLong - cap > 1) {
    const trial = Math.floor((cap + tooLong) / 2);
    if (sizeOf(cutTo(trial)) <= room) cap = trial;
    else tooLong = trial;
  }
  return result(cutTo(cap), flat.filter(({ length }) => length > cap).length);
}

/** Lines of the first skills that fit. Stops at the first that does not. */
function linesWithin(
  skills: readonly Listed[],
  room: number,
  line: (skill: Listed) => string,
): readonly string[] {
  const lines: string[] = [];
  let left = room;
  for (const skill of skills) {
    const text = line(skill);
    left -= text.length + 1;
    if (left < 0) break;
    lines.push(text);
  }
  return lines;
}

/** How many entries from the first can keep a short description. */
function mostDescribed(floor: readonly string[], bare: readonly string[], room: number): number {
  let left = room - sizeOf(bare);
  const over = floor.findIndex((line, index) => {
    left -= line.length - (bare[index]?.length ?? 0);
    return left < 0;
  });
  return over === -1 ? floor.length : over;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
}

function frame(lines: readonly string[], left: number, { format }: CatalogueOptions): string {
  const more = left === 0 ? [] : [`+${left} more: use skills_search`];
  const listed = format === 'xml' ? ['<available_skills>', ...lines, '</available_skills>'] : lines;
  return heading + [...listed, ...more].join('\n');
}

/** Sorts by name. There may be thousands, and they usually are in order already. */
function byName(skills: readonly Listed[]): readonly Listed[] {
  const inOrder = skills.every(({ name }, index) => index === 0 || (skills[index - 1]?.name ?? '') <= name);
  return inOrder ? skills : [...skills].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function entry({ name, path }: Listed, shown: string, { format, includeLocation }: CatalogueOptions): string {
  const parts = {
    name: escape(flatten(name)),
    description: escape(shown),
    location: includeLocation === true ? escape(flatten(path)) : '',
  };
  return format === 'xml' ? xmlEntry(parts) : markdownEntry(parts);
}

type Parts = Readonly<{ name: string; description: string; location: string }>;

function markdownEntry({ name, description, location }: Parts): string {
  const said = description === '' ? '' : `: ${description}`;
  return `- ${name}${said}${location === '' ? '' : ` (${location})`}`;
}

function xmlEntry({ name, description, location }: Parts): string {
  const said = description === '' ? '' : `<description>${description}</description>`;
  const place = location === '' ? '' : `<location>${location}</location>`;
  return `<skill><name>${name}</name>${said}${place}</skill>`;
}

function described({ description, whenToUse }: Listed): string {
  return flatten(whenToUse === undefined ? description : `${description} ${whenToUse}`);
}

/** Removes control and invisible characters, so that no text can start an entry of its own (P2). */
function flatten(text: string): string {
  if (!/[^\S ]| {2}|\p{C}/u.test(text)) return text.trim();
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/(?!\u200d)\p{Cf}/gu, '')
    .trim();
}

function escape(text: string): string {
  if (!/[&<>]/.test(text)) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Cuts to at most `limit` UTF-16 units, without splitting a surrogate pair. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text
    .slice(0, Math.max(0, limit - 1))
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}
