/**
 * Markdown that is safe for every channel (H2): no images, HTML or references, only live links. Its nodes are as in
 * mdast.
 */
export type MarkdownDocument = Readonly<{ type: 'root'; children: readonly MarkdownBlock[] }>;

export type MarkdownBlock =
  | Readonly<{ type: 'paragraph'; children: readonly Inline[] }>
  | Readonly<{ type: 'heading'; depth: 1 | 2 | 3 | 4 | 5 | 6; children: readonly Inline[] }>
  | Code
  | Readonly<{ type: 'blockquote'; children: readonly MarkdownBlock[] }>
  | List
  | Table
  | Readonly<{ type: 'thematicBreak' }>;

/** A block of code. `lang` is a word of at most 40 characters. */
export type Code = Readonly<{ type: 'code'; lang: string | null; value: string }>;

export type List = Readonly<{
  type: 'list';
  ordered: boolean;
  start: number | null;
  spread: boolean;
  children: readonly ListItem[];
}>;

export type ListItem = Readonly<{
  type: 'listItem';
  checked: boolean | null;
  spread: boolean;
  children: readonly MarkdownBlock[];
}>;

export type Table = Readonly<{
  type: 'table';
  align: readonly ('left' | 'right' | 'center' | null)[];
  children: readonly TableRow[];
}>;

export type TableRow = Readonly<{ type: 'tableRow'; children: readonly TableCell[] }>;
export type TableCell = Readonly<{ type: 'tableCell'; children: readonly Inline[] }>;

export type Inline =
  | Readonly<{ type: 'text'; value: string }>
  | Readonly<{ type: 'inlineCode'; value: string }>
  | Readonly<{ type: 'break' }>
  | Readonly<{ type: 'emphasis' | 'strong' | 'delete'; children: readonly Inline[] }>
  /** A link without other links inside. For `url` see `liveUrl`. */
  | Readonly<{ type: 'link'; url: string; children: readonly Inline[] }>;

type Node = MarkdownDocument | MarkdownBlock | Inline | ListItem | TableRow | TableCell;

/** The text of a node without marks, bullets or layout. Blocks, items, cells and breaks end in a newline. */
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
