import type {
  Block,
  Inline,
  ListItem,
  MarkdownDocument,
  TableCell,
  TableRow,
} from '../../lib/markdown/document.ts';

type Node = MarkdownDocument | Block | Inline | ListItem | TableRow | TableCell;

/** What Slack may turn into a mention wherever it stands: `<@U1>`, `<#C1>`, `<!channel>`, `<!subteam^S1>`, `@here`. */
const pings =
  /[<;]\\*(?=[@#]\w|!(?:channel|here|everyone|group|subteam|date))|(?<![\w.+-])@(?=channel|here|everyone|group)|@(?=(?:channel|here|everyone|group)(?![\w-]*\.\w))/gi;
/** Word joiner: takes no room and allows no line break. */
const joiner = '\u2060';

/**
 * Breaks every mention with an invisible character, in code too: how many times Slack undoes escapes before it looks for
 * mentions is written nowhere, so escaping alone would be a guess (H2).
 */
export function withoutPings<N extends Node>(node: N): N {
  if ('value' in node) return { ...node, value: node.value.replace(pings, `$&${joiner}`) };
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.map((child) => withoutPings(child));
  return 'url' in node
    ? { ...node, url: node.url.replace(pings, encodeURIComponent), children }
    : { ...node, children };
}
