/**
 * A Markdown syntax tree with the policy of H2 already carried out: no images, no HTML, no references, and every link in
 * it may be live. Its nodes have mdast's names and shapes; anything an author can write becomes one of these.
 */
export type MarkdownDocument = Readonly<{ type: 'root'; children: readonly Block[] }>;

export type Block =
  | Readonly<{ type: 'paragraph'; children: readonly Inline[] }>
  | Readonly<{ type: 'heading'; depth: 1 | 2 | 3 | 4 | 5 | 6; children: readonly Inline[] }>
  | Code
  | Readonly<{ type: 'blockquote'; children: readonly Block[] }>
  | List
  | Table
  | Readonly<{ type: 'thematicBreak' }>;

/** `lang` is a plain word of at most 40 characters. */
export type Code = Readonly<{ type: 'code'; lang: string | null; value: string }>;

export type List = Readonly<{
  type: 'list';
  ordered: boolean;
  /** Number of the first item of an ordered list. */
  start: number | null;
  /** Items are set apart by blank lines. */
  spread: boolean;
  children: readonly ListItem[];
}>;

export type ListItem = Readonly<{
  type: 'listItem';
  /** State of a task list's box, where the item has one. */
  checked: boolean | null;
  spread: boolean;
  children: readonly Block[];
}>;

/** The first row is the header. */
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
  /** `url` is as `liveUrl` gives it; there are no links inside a link. */
  | Readonly<{ type: 'link'; url: string; children: readonly Inline[] }>;

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
