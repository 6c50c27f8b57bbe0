import type * as mdast from 'mdast';
import { visibleText, type Block, type Inline, type ListItem, type TableRow } from './document.ts';

const liveProtocols = new Set(['http:', 'https:', 'mailto:']);

const longestUrl = 2048;

type Definitions = ReadonlyMap<string, string>;

export function simplifyTree(tree: mdast.Root): readonly Block[] {
  const definitions = new Map<string, string>();
  collectDefinitions(tree, definitions);
  return toBlocks(tree.children, definitions);
}

function collectDefinitions(node: mdast.Nodes, found: Map<string, string>): void {
  if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node.url);
  if ('children' in node) for (const child of node.children) collectDefinitions(child, found);
}

function toBlocks(nodes: readonly mdast.RootContent[], definitions: Definitions): readonly Block[] {
  return nodes.flatMap((node): readonly Block[] => {
    switch (node.type) {
      case 'paragraph':
        return [{ type: 'paragraph', children: toInlines(node.children, definitions) }];
      case 'heading':
        return [{ type: 'heading', depth: node.depth, children: toInlines(node.children, definitions) }];
      case 'code':
        return [
          { type: 'code', lang: /^[\w+#.-]{1,40}/.exec(node.lang ?? '')?.[0] ?? null, value: node.value },
        ];
      case 'blockquote':
        return [{ type: 'blockquote', children: withTitle(toBlocks(node.children, definitions)) }];
      case 'list':
        return [
          {
            type: 'list',
            ordered: node.ordered ?? false,
            start: node.start ?? null,
            spread: node.children.some((item) => item.spread) || node.spread === true,
            children: node.children.map((item) => toListItem(item, definitions)),
          },
        ];
      case 'table':
        return [
          {
            type: 'table',
            align: node.align ?? [],
            children: node.children.map((row) => toRow(row, definitions)),
          },
        ];
      case 'thematicBreak':
        return [{ type: 'thematicBreak' }];
      default:
        return [];
    }
  });
}

function withTitle([first, ...rest]: readonly Block[]): readonly Block[] {
  if (first?.type !== 'paragraph') return first === undefined ? [] : [first, ...rest];
  const [head, ...inlines] = first.children;
  const kind =
    head?.type === 'text' ? /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?:\n|$)/.exec(head.value) : null;
  if (kind?.[1] === undefined || head?.type !== 'text') return [first, ...rest];
  const title = kind[1].charAt(0) + kind[1].slice(1).toLowerCase();
  const body = [...text(head.value.slice(kind[0].length)), ...inlines];
  const children: readonly Inline[] = [
    { type: 'strong', children: text(title) },
    { type: 'text', value: '\n' },
    ...body,
  ];
  return [{ ...first, children: body.length === 0 ? children.slice(0, 1) : mergeTexts(children) }, ...rest];
}

function toListItem(item: mdast.ListItem, definitions: Definitions): ListItem {
  const children = toBlocks(item.children, definitions);
  // An empty box can't be written back.
  const checked = children.map(visibleText).join('').trim() === '' ? null : (item.checked ?? null);
  return { type: 'listItem', checked, spread: item.spread ?? false, children };
}

function toRow(row: mdast.TableRow, definitions: Definitions): TableRow {
  return {
    type: 'tableRow',
    children: row.children.map((cell) => ({
      type: 'tableCell',
      children: mergeTexts(toInlines(cell.children, definitions).flatMap(withBreaks)),
    })),
  };
}

function toInlines(nodes: readonly mdast.PhrasingContent[], definitions: Definitions): readonly Inline[] {
  return mergeTexts(nodes.flatMap((node) => toInline(node, definitions)));
}

function toInline(node: mdast.PhrasingContent, definitions: Definitions): readonly Inline[] {
  switch (node.type) {
    case 'text':
      return text(node.value);
    case 'inlineCode':
      return [{ type: 'inlineCode', value: node.value }];
    case 'break':
      return [{ type: 'break' }];
    case 'emphasis':
    case 'strong':
    case 'delete':
      return mark(node.type, toInlines(node.children, definitions));
    case 'link':
      return link(node.url, toInlines(node.children, definitions));
    case 'linkReference':
      return link(definitions.get(node.identifier) ?? '', toInlines(node.children, definitions));
    case 'image':
      return link(node.url, text(node.alt));
    case 'imageReference':
      return link(definitions.get(node.identifier) ?? '', text(node.alt));
    default:
      return [];
  }
}

/** Table cells have no other line break. */
function withBreaks(node: Inline): readonly Inline[] {
  if (node.type !== 'text') return [node];
  return node.value
    .split(/<br *\/?>/i)
    .flatMap((line, index) => [...(index === 0 ? [] : [{ type: 'break' } as const]), ...text(line)]);
}

function mark(type: 'emphasis' | 'strong' | 'delete', children: readonly Inline[]): readonly Inline[] {
  const inner = mergeTexts(children.flatMap((child) => (child.type === type ? child.children : [child])));
  return inner.length === 0 ? [] : [{ type, children: inner }];
}

function link(address: string, children: readonly Inline[]): readonly Inline[] {
  const label = withoutLinks(children);
  const shown = plain(label).trim();
  const url = liveUrl(address);
  if (url !== undefined) {
    return [{ type: 'link', url, children: shown === '' ? text(address) : label }];
  }
  if (shown === '') return text(address);
  if ([shown, `http://${shown}`, `mailto:${shown}`].includes(address)) return label;
  return address === '' ? label : [...label, ...text(` (${address})`)];
}

function withoutLinks(nodes: readonly Inline[]): readonly Inline[] {
  return mergeTexts(
    nodes.flatMap((node): readonly Inline[] => {
      if (node.type === 'link') return withoutLinks(node.children);
      return 'children' in node ? [{ ...node, children: withoutLinks(node.children) }] : [node];
    }),
  );
}

function plain(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => ('children' in node ? plain(node.children) : 'value' in node ? node.value : '\n'))
    .join('');
}

function text(value: string | null | undefined): readonly Inline[] {
  return value === null || value === undefined || value === '' ? [] : [{ type: 'text', value }];
}

export function mergeTexts(nodes: readonly Inline[]): readonly Inline[] {
  const merged: Inline[] = [];
  for (const node of nodes) {
    const last = merged.at(-1);
    if (node.type === 'text' && last?.type === 'text') {
      merged[merged.length - 1] = { type: 'text', value: last.value + node.value };
    } else merged.push(node);
  }
  return merged;
}

/** http(s) or mailto, at most 2,048 characters. Undefined also for hosts hidden behind a name (`good.com@evil.com`) (H2). */
function liveUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !liveProtocols.has(url.protocol) || url.username !== '' || url.password !== '')
    return undefined;
  // They end an address in Slack.
  const href = url.href.replace(/[|<>"`\\^{}\s]/g, (character) => encodeURIComponent(character));
  return href.length > longestUrl ? undefined : href;
}
