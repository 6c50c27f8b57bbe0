import type { Inline } from './document.ts';
import { graphemeStart } from './grapheme-start.ts';
import { largestFit } from './largest-fit.ts';
import { visibleText } from './visible-text.ts';

/** How far back a better place for a cut is looked for. Characters. */
const farthestBack = 600;

/** Cuts text as late as `fits` allows: after a line, else (unless only lines will do) a sentence or word, else a grapheme. */
export function cutText(
  text: string,
  at: 'lines' | 'words',
  fits: (part: string) => boolean,
): Readonly<{ part: string; rest: string }> | undefined {
  const most = largestFit(text.length, (length) => fits(text.slice(0, length)));
  if (most === 0) return undefined;
  const end = most === text.length ? most : goodPlace(text, most, at);
  if (at === 'lines' && text[end - 1] === '\n')
    return { part: text.slice(0, end - 1), rest: text.slice(end) };
  return { part: text.slice(0, end), rest: text.slice(end) };
}

/** The same over text with marks, which are closed before the cut and opened again after it. */
export function cutInlines(
  nodes: readonly Inline[],
  fits: (part: readonly Inline[]) => boolean,
): Readonly<{ part: readonly Inline[]; rest: readonly Inline[] }> | undefined {
  const text = nodes.map(visibleText).join('');
  const cut = cutText(text, 'words', (part) => fits(takeInlines(nodes, 0, part.length)));
  if (cut === undefined) return undefined;
  // White space at a cut would be lost or, as a hard break, turn into something else.
  const restLength = cut.rest.trimStart().length;
  return {
    part: takeInlines(nodes, 0, cut.part.trimEnd().length),
    rest: takeInlines(nodes, text.length - restLength, text.length),
  };
}

function goodPlace(text: string, most: number, at: 'lines' | 'words'): number {
  const earliest = Math.max(1, at === 'lines' ? 0 : most - farthestBack, Math.floor(most / 2));
  const window = text.slice(earliest, most);
  const newline = window.lastIndexOf('\n');
  if (newline !== -1) return earliest + newline + 1;
  if (at === 'words') {
    const ahead = window + text.charAt(most);
    const place = /^[^]*[.!?…]["')\]]*\s/.exec(ahead) ?? /^[^]*\s/.exec(ahead);
    if (place !== null) return Math.min(earliest + place[0].length, most);
  }
  return graphemeStart(text, most);
}

/** The inlines that hold the visible characters from `start` to `end`. */
function takeInlines(nodes: readonly Inline[], start: number, end: number): readonly Inline[] {
  const taken: Inline[] = [];
  let position = 0;
  for (const node of nodes) {
    const length = visibleText(node).length;
    const [from, to] = [Math.max(start - position, 0), Math.min(end - position, length)];
    position += length;
    if (from >= to) continue;
    if ('children' in node) taken.push({ ...node, children: takeInlines(node.children, from, to) });
    else if ('value' in node) taken.push({ ...node, value: node.value.slice(from, to) });
    else taken.push(node);
  }
  return taken;
}
