import { cutInlines, cutText } from './cut-inlines.ts';
import type { Block, List, Table } from './document.ts';
import { largestFit } from './largest-fit.ts';
import { layOutTable } from './table-text.ts';

/** `part` fits and has something in it; `rest` is what comes after it. */
export type Cut = Readonly<{ part: Block; rest: readonly Block[] }>;

/** Cuts a block that is too long as late as `fits` allows, at the best place near there. Nothing when no part of it fits. */
export function cutBlock(block: Block, fits: (part: Block) => boolean): Cut | undefined {
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
  blocks: readonly Block[],
  fits: (part: readonly Block[]) => boolean,
): Readonly<{ part: readonly Block[]; rest: readonly Block[] }> | undefined {
  const count = largestFit(blocks.length, (most) => fits(blocks.slice(0, most)));
  const whole = blocks.slice(0, count);
  const following = blocks[count];
  if (following === undefined) return { part: whole, rest: [] };
  const cut = cutBlock(following, (part) => fits([...whole, part]));
  if (cut !== undefined)
    return { part: [...whole, cut.part], rest: [...cut.rest, ...blocks.slice(count + 1)] };
  return count === 0 ? undefined : { part: whole, rest: blocks.slice(count) };
}

/** Between items; an item that is too long by itself goes on after the cut without its bullet. */
function cutList(list: List, fits: (part: Block) => boolean): Cut | undefined {
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

/** Between rows, the header on each part; where not even one row fits under it, as lines of fixed-width text. */
function cutTable(table: Table, fits: (part: Block) => boolean): Cut | undefined {
  const [header, ...rows] = table.children;
  if (header === undefined) return undefined;
  const withRows = (some: Table['children']): Table => ({ ...table, children: [header, ...some] });
  const count = largestFit(rows.length, (most) => fits(withRows(rows.slice(0, most))));
  if (count > 0) return { part: withRows(rows.slice(0, count)), rest: [withRows(rows.slice(count))] };
  return cutBlock({ type: 'code', lang: null, value: layOutTable(table) }, fits);
}
