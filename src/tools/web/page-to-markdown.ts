import TurndownService from 'turndown';
import { reduceHtml } from './reduce-html.ts';

export type PageText = Readonly<{
  markdown: string;
  title: string;
  cut: boolean;
}>;

/** How many characters are searched for a `base` element. */
const headLimit = 50_000;

type Element = Readonly<{
  nodeName: string;
  textContent: string | null;
  parentNode: Readonly<{ nodeName: string }> | null;
  nextSibling: unknown;
  getAttribute(name: string): string | null;
}>;

/** Converts a page: absolute links, no scripts, no navigation. May block its thread for seconds. */
export function pageToMarkdown(html: string, url: string): PageText {
  const declared = /<base\s[^>]{0,500}?href\s*=\s*["']?([^"'\s>]{1,2000})/i.exec(
    html.slice(0, headLimit),
  )?.[1];
  const base = (declared === undefined ? undefined : URL.parse(declared, url)?.href) ?? url;
  const reduced = reduceHtml(html, base);
  let title = '';
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  });
  // Nothing renders this Markdown, so escapes would only be noise.
  service.escape = (text) => text;
  service.addRule('title', {
    filter: (node: Element) => node.nodeName === 'X-TITLE',
    replacement(_, node: Element) {
      title = oneLine(node.textContent ?? '');
      return '';
    },
  });
  service.addRule('code block', {
    filter: ['pre'],
    replacement(_, node: Element) {
      const text = (node.textContent ?? '').replace(/^\n|\n$/g, '');
      const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
      return `\n\n${fence}\n${text}\n${fence}\n\n`;
    },
  });
  const counts = new WeakMap<object, number>();
  service.addRule('item', {
    filter: 'li',
    replacement(content, { parentNode, nextSibling }: Element) {
      const count = parentNode === null ? 1 : (counts.get(parentNode) ?? 0) + 1;
      if (parentNode !== null) counts.set(parentNode, count);
      const mark = parentNode?.nodeName === 'OL' ? `${count}. ` : '- ';
      const text = content.trim().replace(/\n(?=[^\n])/g, `\n${' '.repeat(mark.length)}`);
      return `${mark}${text}${nextSibling === null ? '' : '\n'}`;
    },
  });
  service.addRule('link', {
    filter: (node: Element) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement(content, node: Element) {
      const text = oneLine(content.replace(/^#{1,6} /gm, ''));
      const href = node.getAttribute('href') ?? '';
      return text === '' ? '' : text === href ? `<${href}>` : `[${text}](${href})`;
    },
  });
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content) => ` ${oneLine(content).replaceAll('|', '\\|')} |`,
  });
  service.addRule('row', { filter: ['tr'], replacement: (content) => `\n|${content}` });
  service.addRule('table', { filter: ['table'], replacement: table });
  const markdown = service.turndown(
    `<x-title>${reduced.title.replaceAll('<', '&lt;')}.</x-title>${reduced.html}`,
  );
  return { markdown: markdown.trim(), title: title.replace(/\.$/, ''), cut: reduced.cut };
}

/** A table whose rows have one cell is only layout, so its cells become paragraphs. */
function table(content: string): string {
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  const rows = lines.filter((line) => line.startsWith('|'));
  const widest = Math.max(0, ...rows.map(cells));
  if (widest < 2) {
    return `\n\n${lines.map((line) => line.replace(/^\| ?| ?\|$/g, '')).join('\n\n')}\n\n`;
  }
  const [first = '', ...others] = rows;
  const captions = lines.filter((line) => !line.startsWith('|'));
  const head = first + ' |'.repeat(widest - cells(first));
  return `\n\n${[...captions, ...(captions.length > 0 ? [''] : []), head, `|${' --- |'.repeat(widest)}`, ...others].join('\n')}\n\n`;
}

function cells(row: string): number {
  return row.replaceAll('\\|', '').split('|').length - 2;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
