import { termsOf } from './offline-choice.ts';

/** Characters of an answer out of a file: what fits on a screen. */
const longest = 1_500;

type Section = Readonly<{ heading: string; text: string }>;

/** The part below one heading that fits the words best, as it stands; nothing where none fits. */
export function bestSection(files: readonly string[], words: string): string | undefined {
  const terms = termsOf(words).map((term) => term.replace(/s$/, ''));
  const fit = ({ heading, text }: Section): number =>
    terms.filter((term) => text.toLowerCase().includes(term)).length +
    2 * terms.filter((term) => heading.toLowerCase().includes(term)).length;
  const [best] = files
    .flatMap(sectionsOf)
    .map((section) => ({ section, score: fit(section) }))
    .filter(({ score }) => score > 0)
    // Of two that fit alike the shorter one says less of other things.
    .sort((a, b) => b.score - a.score || a.section.text.length - b.section.text.length);
  return best && cut(best.section.text);
}

function sectionsOf(file: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let fenced = false;
  for (const line of file.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const isHeading = !fenced && /^#{1,6} /.test(line);
    if (isHeading || sections.length === 0) sections.push({ heading: isHeading ? line : '', lines: [line] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections
    .map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }))
    .filter(({ heading, text }) => text !== heading);
}

/** Cut at the end of a line, with a fence that is open there closed. */
function cut(text: string): string {
  if (text.length <= longest) return text;
  const lineEnd = text.lastIndexOf('\n', longest);
  const kept = text.slice(0, lineEnd > 0 ? lineEnd : longest);
  const isOpen = (kept.match(/^```/gm) ?? []).length % 2 === 1;
  return `${kept}\n${isOpen ? '```\n' : ''}\n…`;
}
