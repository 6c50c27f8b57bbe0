import type { Budget } from './document-budget.ts';
import { notesOf } from './note-text.ts';
import { relationsOf } from './office-parts.ts';
import { linesOf } from './word-text.ts';
import { tokensOf, attributeOf } from './xml-tokens.ts';
import type { Zip } from './zip.ts';

/** The lines of slides in the order in which they are shown, each with its notes and comments. */
export async function* slides(zip: Zip, budget: Budget): AsyncIterable<string> {
  for (const [index, part] of (await slidesInOrder(zip, budget)).entries()) {
    const xml = await zip.read(part);
    yield `Slide ${index + 1}${isHidden(xml, budget) ? ' (hidden)' : ''}`;
    yield* filled(linesOf(xml, budget));
    for (const { type, target } of (await relationsOf(zip, part, budget)).values()) {
      if (type.endsWith('/notesSlide')) {
        // Leaves out the slide number that some programs add.
        const words = filled(linesOf(await zip.read(target), budget)).filter((line) => !/^\d+$/.test(line));
        if (words.length > 0) yield* ['Notes:', ...words];
      } else if (/\/comments?$/.test(type))
        for (const { words } of notesOf(await zip.read(target), 'cm', budget)) yield `Comment: ${words}`;
    }
    yield '';
  }
}

function isHidden(xml = '', budget: Budget): boolean {
  for (const { tag, attributes } of tokensOf(xml, budget))
    if (tag === 'sld') return /^(?:0|false)$/.test(attributeOf(attributes, 'show'));
  return false;
}

/** The parts of slides in their order. A part keeps its number when somebody moves its slide. */
async function slidesInOrder(zip: Zip, budget: Budget): Promise<readonly string[]> {
  const presentation = 'ppt/presentation.xml';
  const relations = await relationsOf(zip, presentation, budget);
  const ids: string[] = [];
  for (const { tag, closes, attributes } of tokensOf((await zip.read(presentation)) ?? '', budget))
    if (tag === 'sldId' && !closes) ids.push(attributeOf(attributes, '[\\w.-]{1,100}:id'));
  const listed = new Set(ids.flatMap((id) => relations.get(id)?.target ?? []));
  if (listed.size > 0) return [...listed];
  const numbers = zip.names.flatMap((name) => /^ppt\/slides\/slide(\d{1,5})\.xml$/.exec(name)?.[1] ?? []);
  const sorted = numbers.map(Number).sort((one, other) => one - other);
  return sorted.map((number) => `ppt/slides/slide${number}.xml`);
}

function filled(lines: Iterable<string>): readonly string[] {
  return [...lines].filter((line) => line !== '');
}
