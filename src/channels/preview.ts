import { closeMarks } from '../lib/markdown/close-marks.ts';

/** What stays of words that came all at once. */
const pageShare = 0.45;

/** The newest piece of the words so far, as one message (H6). */
export type Preview = (markdown: string) => string;

/**
 * Looks at the newest piece only: what filled a message is never read again. A new piece begins between blocks, else
 * lines, else words. Marks that are open at its end are closed. `longest`: characters that surely are too many.
 */
export function createPreview(fits: (markdown: string) => boolean, longest: number): Preview {
  let before = '';
  let start = 0;
  /** Of a fence or table that began before the piece. */
  let head = '';
  /** The words fitted up to here. */
  let good = 0;

  function turnPage(markdown: string): void {
    const far = markdown.length - Math.floor(longest * pageShare);
    const half = start + Math.ceil((markdown.length - start) / 2);
    const near = good > start ? good : Math.max(half, far);
    const next = boundaryBefore(markdown, near, start);
    head = headAt(markdown, next, `${head}${markdown.slice(start, next)}`);
    start = next;
    good = 0;
  }

  return (markdown) => {
    if (!markdown.startsWith(before)) [start, head, good] = [0, '', 0];
    before = markdown;
    for (;;) {
      const rest = markdown.length - start;
      const piece = rest > longest ? '' : closeMarks(`${head}${markdown.slice(start)}`);
      if (rest <= 1 || (piece !== '' && fits(piece))) {
        good = markdown.length;
        return piece;
      }
      if (rest > longest) good = 0;
      turnPage(markdown);
    }
  };
}

/** After `start`. */
function boundaryBefore(markdown: string, near: number, start: number): number {
  for (const end of ['\n\n', '\n', ' ']) {
    const at = markdown.lastIndexOf(end, near - end.length) + end.length;
    if (at > start + (end === ' ' ? 0 : 1) && at >= end.length) return at;
  }
  const isHalf = /[\udc00-\udfff]/.test(markdown.charAt(near));
  return Math.max(start + 1, isHalf ? near - 1 : near);
}

/** What a piece from `at` on needs before it: `passed` ends there. */
function headAt(markdown: string, at: number, passed: string): string {
  let open = '';
  for (const [line, marks = ''] of passed.matchAll(/^[ \t>]*(`{3,}|~{3,}).*$/gm)) {
    if (open === '') open = line;
    else if (line.trim().startsWith(/(`{3,}|~{3,})/.exec(open)?.[0] ?? marks) && !/\w/.test(line)) open = '';
  }
  if (open !== '') return `${open}\n`;
  if (!/^[ \t]*\|/.test(markdown.slice(at, at + 20))) return '';
  const block = passed.slice(passed.lastIndexOf('\n\n') + 1).trimStart();
  const [header = '', line = ''] = block.split('\n', 2);
  return /^[\s|:-]*-[\s|:-]*$/.test(line) && line.includes('|') ? `${header}\n${line}\n` : '';
}
