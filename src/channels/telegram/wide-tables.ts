import type { Block, Inline, Table } from '../../lib/markdown/document.ts';
import { layOutTable } from '../../lib/markdown/table-text.ts';
import { displayWidth } from '../../lib/markdown/display-width.ts';
import { visibleText } from '../../lib/markdown/visible-text.ts';

/** Columns of fixed-width text that a phone in landscape still shows without breaking lines. */
const widestTable = 60;

/** A table too wide for a phone as a paragraph for each row: its first cell in bold, then `Header: value` lines (H2). */
export function withoutWideTables(blocks: readonly Block[]): readonly Block[] {
  return blocks.flatMap((block): readonly Block[] => {
    if (block.type === 'blockquote') return [{ ...block, children: withoutWideTables(block.children) }];
    if (block.type === 'list') {
      const items = block.children.map((item) => ({ ...item, children: withoutWideTables(item.children) }));
      return [{ ...block, children: items }];
    }
    return block.type === 'table' && isWide(block) ? asRows(block) : [block];
  });
}

function isWide(table: Table): boolean {
  const [header = ''] = layOutTable(table).split('\n', 2).slice(1);
  return displayWidth(header) > widestTable;
}

function asRows({ children: [header, ...rows] }: Table): readonly Block[] {
  if (header === undefined || rows.length === 0) return [];
  return rows.map(({ children: cells }) => ({
    type: 'paragraph',
    children: cells
      .map(({ children }, index) => {
        const name = visibleText(header.children[index] ?? { type: 'text', value: '' }).trim();
        return { children, name: name === '' ? '' : `${name}: ` };
      })
      .filter(({ children }) => children.map(visibleText).join('').trim() !== '')
      .flatMap(({ children, name }, index): readonly Inline[] =>
        index === 0
          ? [{ type: 'strong', children: children.flatMap(withoutBold) }]
          : [{ type: 'break' }, { type: 'text', value: name }, ...children],
      ),
  }));
}

function withoutBold(node: Inline): readonly Inline[] {
  return node.type === 'strong' ? node.children : [node];
}
