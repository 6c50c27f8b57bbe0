import type {
  Block,
  Inline,
  ListItem,
  MarkdownDocument,
  TableCell,
  TableRow,
} from '../../lib/markdown/document.ts';
import { visibleText } from '../../lib/markdown/visible-text.ts';

type Node = MarkdownDocument | Block | Inline | ListItem | TableRow | TableCell;

/**
 * Writes out the links that Telegram drops without a word: to mail addresses (its apps make a bare one live themselves) and
 * to hosts without a dot.
 */
export function showDeadLinks<N extends Node>(node: N): N {
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.flatMap((child): readonly Node[] =>
    child.type === 'link' && !isTakenByTelegram(child.url)
      ? asText(child.url, child.children)
      : [showDeadLinks(child)],
  );
  return { ...node, children };
}

function isTakenByTelegram(address: string): boolean {
  const url = new URL(address);
  return url.protocol !== 'mailto:' && /[^.]\.[^.]|^\[/.test(url.hostname);
}

function asText(url: string, label: readonly Inline[]): readonly Inline[] {
  const address = url.startsWith('mailto:') ? decodeMail(url.slice('mailto:'.length)) : url;
  if (withoutSlash(label.map(visibleText).join('')) === withoutSlash(address)) return label;
  return [...label, { type: 'text', value: ` (${address})` }];
}

function decodeMail(address: string): string {
  return address.replace(/\?.*$/, '').replaceAll('%20', ' ');
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, '');
}
