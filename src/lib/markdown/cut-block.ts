import { visibleText, type MarkdownBlock, type List, type Table, type Inline } from './document.ts';
import { layOutTable } from './render-text.ts';
import { graphemeStart } from '../text/text.ts';

const farthestBack = 600;

type Cut = Readonly<{ part: MarkdownBlock; rest: readonly MarkdownBlock[] }>;

export function cutBlock(block: MarkdownBlock, fits: (part: MarkdownBlock) => boolean): Cut | undefined {
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const cut = cutInlines(block.children, (children) => fits({ ...block, children }));
      return (
        cut && {
          part: { ...block, children: cut.part },
          rest: cut.rest.length === 0 ? [] : [{ ...block, children: cut.rest }],
        }
      );
    }
    case 'code': {
      const cut = cutText(block.value, 'lines', (value) => fits({ ...block, value }));
      return cut && { part: { ...block, value: cut.part }, rest: [{ ...block, value: cut.rest }] };
    }
    case 'blockquote': {
      const cut = cutBlocks(block.children, (children) => fits({ ...block, children }));
      return (
        cut && {
          part: { ...block, children: cut.part },
          rest: cut.rest.length === 0 ? [] : [{ ...block, children: cut.rest }],
        }
      );
    }
    case 'list':
      return cutList(block, fits);
    case 'table':
      return cutTable(block, fits);
    case 'thematicBreak':
      return undefined;
  }
}

function cutBlocks(
  blocks: readonly MarkdownBlock[],
  fits: (part: readonly MarkdownBlock[]) => boolean,
): Readonly<{ part: readonly MarkdownBlock[]; rest: readonly MarkdownBlock[] }> | undefined {
  const count = largestFit(blocks.length, (most) => fits(blocks.slice(0, most)));
  const whole = blocks.slice(0, count);
  const following = blocks[count];
  if (following === undefined) return { part: whole, rest: [] };
  const cut = cutBlock(following, (part) => fits([...whole, part]));
  if (cut !== undefined)
    return { part: [...whole, cut.part], rest: [...cut.rest, ...blocks.slice(count + 1)] };
  return count === 0 ? undefined : { part: whole, rest: blocks.slice(count) };
}

/** Cuts a list. The rest of a cut item has no bullet. */
function cutList(list: List, fits: (part: MarkdownBlock) => boolean): Cut | undefined {
  const count = largestFit(list.children.length, (most) =>
    fits({ ...list, children: list.children.slice(0, most) }),
  );
  const whole = list.children.slice(0, count);
  const following = list.children[count];
  if (following === undefined) return { part: list, rest: [] };
  const after = list.children.slice(count + 1);
  const start = (list.start ?? 1) + count;
  if (count > 0)
    return {
      part: { ...list, children: whole },
      rest: [{ ...list, start, children: [following, ...after] }],
    };
  const cut = cutBlocks(following.children, (children) =>
    fits({ ...list, children: [{ ...following, children }] }),
  );
  if (cut === undefined) return undefined;
  return {
    part: { ...list, children: [{ ...following, children: cut.part }] },
    rest: [...cut.rest, ...(after.length === 0 ? [] : [{ ...list, start: start + 1, children: after }])],
  };
}

/** Cuts a table, and repeats its header in each part. If no row fits, it becomes fixed-width text. */
function cutTable(table: Table, fits: (part: MarkdownBlock) => boolean): Cut | undefined {
  const [header, ...rows] = table.children;
  if (header === undefined) return undefined;
  const withRows = (some: Table['children']): Table => ({ ...table, children: [header, ...some] });
  const count = largestFit(rows.length, (most) => fits(withRows(rows.slice(0, most))));
  if (count > 0) return { part: withRows(rows.slice(0, count)), rest: [withRows(rows.slice(count))] };
  return cutBlock({ type: 'code', lang: null, value: layOutTable(table) }, fits);
}

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

/** Cuts inline text. Marks close before the cut and open again after it. */
function cutInlines(
  nodes: readonly Inline[],
  fits: (part: readonly Inline[]) => boolean,
): Readonly<{ part: readonly Inline[]; rest: readonly Inline[] }> | undefined {
  const text = nodes.map(visibleText).join('');
  const cut = cutText(text, 'words', (part) => fits(takeInlines(nodes, 0, part.length)));
  if (cut === undefined) return undefined;
  // White space at the cut would be lost or get another meaning.
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

/** The largest count that fits. `fits` has to be monotonic; it is only called near the answer. */
export function largestFit(most: number, fits: (count: number) => boolean): number {
  let good = 0;
  let step = 1;
  while (good < most && fits(Math.min(good + step, most))) {
    good = Math.min(good + step, most);
    step *= 2;
  }
  let bad = Math.min(good + step, most + 1);
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
