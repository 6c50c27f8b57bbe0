import type { Inline } from './document.ts';

const liveProtocols = new Set(['http:', 'https:', 'mailto:']);

const longestUrl = 2048;

/** Makes a mark. Marks of one kind are not nested. */
export function mark(type: 'emphasis' | 'strong' | 'delete', children: readonly Inline[]): readonly Inline[] {
  const inner = mergeTexts(children.flatMap((child) => (child.type === type ? child.children : [child])));
  return inner.length === 0 ? [] : [{ type, children: inner }];
}

/** Makes a link if the address is safe. Otherwise the address follows the label as text. */
export function link(address: string, children: readonly Inline[]): readonly Inline[] {
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

export function text(value: string | null | undefined): readonly Inline[] {
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

/**
 * An http(s) or mailto address of at most 2,048 characters. Undefined for any other, and for hosts hidden behind a name
 * (`good.com@evil.com`) (H2).
 */
function liveUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !liveProtocols.has(url.protocol) || url.username !== '' || url.password !== '')
    return undefined;
  // These characters end an address in Slack.
  const href = url.href.replace(/[|<>"`\\^{}\s]/g, (character) => encodeURIComponent(character));
  return href.length > longestUrl ? undefined : href;
}
