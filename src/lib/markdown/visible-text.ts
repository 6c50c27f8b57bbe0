import type { Block, Inline, ListItem, MarkdownDocument, TableCell, TableRow } from './document.ts';

type Node = MarkdownDocument | Block | Inline | ListItem | TableRow | TableCell;

/** The characters an author wrote, without marks, bullets or layout; blocks, items, cells and breaks end in a newline. */
export function visibleText(node: Node): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return node.value;
    case 'code':
      return `${node.value}\n`;
    case 'break':
    case 'thematicBreak':
      return '\n';
    case 'emphasis':
    case 'strong':
    case 'delete':
    case 'link':
      return inside(node.children);
    default:
      return `${inside(node.children)}\n`;
  }
}

function inside(children: readonly Node[]): string {
  return children.map(visibleText).join('');
}
