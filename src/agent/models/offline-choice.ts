import type { Label } from '../../lib/text/escape-labels.ts';
import type { ModelRequest } from '../../core/model.ts';
import { withoutEnd } from '../../lib/text/text.ts';
import { searchSkills } from '../../core/search-skills.ts';

/** A skill as the request shows it. */
export type SeenSkill = Readonly<{ name: string; description: string }>;

/**
 * Skills that a request shows: names from the enum of `use_skill`, descriptions from the catalogue in the system
 * prompt, in either of its formats; a name without an entry has none.
 */
export function skillsIn({ system, tools }: ModelRequest): readonly SeenSkill[] {
  const properties = tools.find(({ name }) => name === 'use_skill')?.input_schema.properties;
  const names = (properties as { skill?: { enum?: unknown } } | null | undefined)?.skill?.enum;
  const catalogue = system.map(({ text }) => text).join('\n');
  return (Array.isArray(names) ? names : [])
    .filter((name) => typeof name === 'string')
    .map((name) => ({ name, description: describedIn(catalogue, name) }));
}

function describedIn(catalogue: string, name: string): string {
  const exact = RegExp.escape(name);
  const bullet = new RegExp(`^- [*\`]*${exact}[*\`]*:[ \\t]*(.*)$`, 'm').exec(catalogue);
  const element = new RegExp(`<name>\\s*${exact}\\s*</name>\\s*<description>([^<]*)`).exec(catalogue);
  return (bullet ?? element)?.[1]?.trim() ?? '';
}

/** The best match by R2's score, small words left out. */
export function pickSkill(skills: readonly SeenSkill[], words: string): string | undefined {
  const tagless = skills.map((skill) => ({ ...skill, tags: [] }));
  return searchSkills(tagless, termsOf(words).join(' '))[0]?.name;
}

/** The listed script whose name holds most of the words, else the first. */
export function pickScript(listing: string, words: string): string | undefined {
  const listed = listing.matchAll(/^- (scripts\/\S+\.(?:sh|py|js|mjs|ts))(?=\s|$)/gm);
  const terms = termsOf(words);
  const fit = (path: string): number => terms.filter((term) => path.toLowerCase().includes(term)).length;
  return [...listed].map((match) => match[1] ?? '').toSorted((a, b) => fit(b) - fit(a))[0];
}

/** The reference files that a run's prompt lists. */
export function referencesIn(listing: string): readonly string[] {
  return [...listing.matchAll(/^- (references\/\S+\.md)$/gm)].map((match) => match[1] ?? '').slice(0, 10);
}

/** What of a message looks like arguments: quoted parts and words with a digit, else all of it as one. */
export function argumentsIn(words: string): readonly string[] {
  const parts = [...words.matchAll(/"([^"]+)"|'([^']+)'|(\S+)/g)].map(([, double, single, bare]) => ({
    text: double ?? single ?? withoutEnd(bare ?? '', '.,;:!?'),
    telling: bare === undefined || /\d|^--?\w/.test(bare),
  }));
  const telling = parts.filter(({ telling }) => telling).map(({ text }) => text);
  if (telling.length > 0) return telling;
  // "Run dice." is what a bare `/dice` says (I6).
  return /^\s*(?:Run [\w-]+\.\s*)?$/.test(words) ? [] : [words.trim()];
}

/** The person's own words: out of the last `<message>`, else all that stands in no label. */
export function ownWords(text: string): string {
  const labelled = lastLabelled(text, 'message');
  if (labelled !== undefined) return labelled;
  return text
    .replace(/<(host|background|quote|context|arguments|instruction|output)\b[^>]*>\n[^]*?\n<\/\1>/g, '')
    .trim();
}

/** The text of the last label of this kind. */
export function lastLabelled(text: string, label: Label): string | undefined {
  const found = [...text.matchAll(new RegExp(`<${label}(?: [^>]*)?>\\n([^]*?)\\n</${label}>`, 'g'))];
  return found.at(-1)?.[1]?.trim();
}

const smallWords = new Set(
  'the and for you can could please with what who how why when where this that these those are was were will would have has had does did not but from into about your our his her its they them there here then than some any all one out use make give tell get want need let put see say now just also only very'.split(
    ' ',
  ),
);

/** Words of a message that say something, in lower case. */
export function termsOf(words: string): readonly string[] {
  const found = words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(found)].filter((term) => term.length > 2 && !smallWords.has(term));
}
