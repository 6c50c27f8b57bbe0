/**
 * Closes marks that are open at the end of Markdown that is still being written. `**bold` becomes `**bold**`, half a
 * link its label, and the head of a table a table. Half a mark without a word after it is left out. It looks only at
 * the last block, because marks end with it.
 */
export function closeMarks(markdown: string): string {
  const text = markdown.trimEnd();
  const { isOpen, end } = lastFence(text);
  if (isOpen) return text.replace(halfFence, '').trimEnd();
  const whole = withTable(text.replace(halfLine, '').trimEnd());
  const from = Math.max(lastBlock(whole), end);
  return `${whole.slice(0, from)}${closed(whole.slice(from))}`;
}

/** Matches half of the line that ends a code block, or the line that begins it. */
const halfFence = /(?:^|\n)[ \t>]*(?:`{1,2}|~{1,2}|(?:`{3,}|~{3,})[^\n]*)$/;

/**
 * Matches a mark at the beginning of a line without words yet: of a heading, an item, a quote, a rule, a row or a task.
 */
const halfLine = /(?<=^|\n)[ \t>]*(?:#{1,6}|[-*+=_|>]|--|==+|(?:[-*+]|\d+[.)])[ \t]+\[[ xX]?\]?)$/;

/**
 * Completes the first two lines of a table, even if they are half written. Without the second one they are not a table.
 */
function withTable(text: string): string {
  const found = /(?:^|\n\n)[ \t]*(\|[^\n]+)(\n[ \t]*[|:-][ \t|:-]*)?$/.exec(text);
  const [, head = '', line = ''] = found ?? [];
  if (found === null) return text;
  const cells =
    head
      .replace(/\\.|`[^`]*`/g, '')
      .replace(/\|[ \t]*$/, '')
      .split('|').length - 1;
  const needed = `${head}${/[^\\]\|[ \t]*$/.test(head) ? '' : ' |'}\n|${'---|'.repeat(cells)}`;
  const isWhole = line.split('|').length >= cells + 2 && line.trimEnd().endsWith('|');
  return isWhole ? text : `${text.slice(0, text.length - head.length - line.length)}${needed}`;
}

/** Where the last fence line ends, and whether a code block is open there. */
function lastFence(text: string): Readonly<{ isOpen: boolean; end: number }> {
  let open = '';
  let end = 0;
  for (const { 0: line, 1: marks = '', 2: rest = '', index } of text.matchAll(
    /^[ \t>]*(`{3,}|~{3,})(.*)$/gm,
  )) {
    const before = open;
    if (open === '') open = rest.includes('`') && marks.startsWith('`') ? '' : marks;
    else if (marks.startsWith(open) && rest.trim() === '') open = '';
    if (open !== before) end = index + line.length;
  }
  return { isOpen: open !== '', end };
}

/** Where the last paragraph, item, heading or row begins. */
function lastBlock(text: string): number {
  const paragraph = text.lastIndexOf('\n\n') + 1;
  const marked = [
    ...text.slice(paragraph).matchAll(/^[ \t>]*(?:[-*+]|\d+[.)]|#{1,6}|\|)(?=\s)|^[ \t]*\|/gm),
  ].at(-1);
  return marked === undefined ? paragraph : paragraph + marked.index + marked[0].length;
}

type Open = Readonly<{ mark: string; at: number }>;

const token =
  /\\[^]|(`+)|(\*{1,3}|_{1,3}|~~?)|(!?\[)|(\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\))|(\]\([^)\n]{0,2000}$)|(\])/g;

function closed(block: string): string {
  const open: Open[] = [];
  let text = block;
  let skipTo = 0;
  for (const found of block.matchAll(token)) {
    const { 0: all, 1: ticks, 2: mark, 3: bracket, 4: link, 5: half, 6: end, index } = found;
    if (index < skipTo) continue;
    if (ticks !== undefined) {
      const close = closingTicks(block, ticks, index);
      if (close < 0) {
        const inside = block.slice(index + ticks.length).replace(/[\s`]+$/, '');
        text = inside === '' ? block.slice(0, index) : `${block.slice(0, index)}${ticks}${inside}${ticks}`;
        return closeAll(text, open);
      }
      skipTo = close;
    } else if (mark !== undefined) {
      take(mark, index, block, open);
    } else if (bracket !== undefined) {
      open.push({ mark: bracket, at: index });
    } else if (half !== undefined) {
      const label = drop(open);
      text = block.slice(0, index);
      if (label !== undefined)
        text = `${text.slice(0, label.at)}${label.mark === '[' ? text.slice(label.at + 1) : ''}`;
      return closeAll(text, open);
    } else if (link !== undefined) {
      drop(open);
    } else if (end !== undefined) {
      const label = drop(open);
      // An address may follow the label.
      if (label?.mark === '[' && index + 1 === block.length) text = withoutBrackets(text, label.at);
      else if (label !== undefined && index + 1 === block.length) text = block.slice(0, label.at);
    }
    skipTo = Math.max(skipTo, index + all.length);
  }
  return closeAll(text.replace(halfMark, ''), open);
}

/** Matches half of a tag, an address in angle brackets or a character reference, and a backslash. */
const halfMark =
  /(?:<(?:[a-z/!][^<>\n]{0,200})?|&(?:#x?[\da-f]{0,6}|a|am|amp|l|lt|g|gt|q|qu|quo|quot|n|nb|nbs|nbsp)?|(?<!\\)(?:\\\\)*\\)$/i;

function withoutBrackets(text: string, at: number): string {
  return `${text.slice(0, at)}${text.slice(at + 1, -1)}`;
}

/** The end of the code that begins at `index`; -1 if it is open. */
function closingTicks(block: string, ticks: string, index: number): number {
  const from = index + ticks.length;
  for (const found of block.slice(from).matchAll(/`+/g))
    if (found[0] === ticks) return from + found.index + ticks.length;
  return -1;
}

function take(mark: string, index: number, block: string, open: Open[]): void {
  const [left = ' ', right = ' '] = [block[index - 1], block[index + mark.length]];
  const isWord = /[\p{L}\p{N}]/u;
  const inWord = mark.startsWith('_') && isWord.test(left) && isWord.test(right);
  const isHalf = mark === '~' && index + 1 < block.length;
  if (inWord || isHalf) return;
  const last = open.findLastIndex((one) => one.mark === mark);
  if (last >= 0 && !/\s/.test(left)) open.splice(last);
  else if (!/\s/.test(right) || index + mark.length === block.length) open.push({ mark, at: index });
}

function drop(open: Open[]): Open | undefined {
  const last = open.findLastIndex(({ mark }) => mark.endsWith('['));
  return last < 0 ? undefined : open.splice(last)[0];
}

function closeAll(text: string, open: readonly Open[]): string {
  let made = text;
  let ends = '';
  for (const { mark, at } of open.toReversed()) {
    const isEmpty = made.slice(at + mark.length).trim() === '';
    if (mark.endsWith('['))
      made = mark === '[' ? `${made.slice(0, at)}${made.slice(at + 1)}` : made.slice(0, at);
    else if (isEmpty) made = made.slice(0, at);
    else ends += mark;
  }
  return `${made.trimEnd()}${ends}`;
}
