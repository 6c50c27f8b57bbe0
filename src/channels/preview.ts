import { closeMarks } from '../lib/markdown/close-marks.ts';

/** The share of a page that stays if words came all at once. */
const pageShare = 0.45;

/** Returns the newest piece of the words so far, as one message (H6). */
export type Preview = (markdown: string) => string;

/**
 * Makes a preview that looks only at the newest piece: what filled a message is never read again. A new piece begins
 * between blocks, or else between lines or words. Marks that are open at its end are closed. `longest` is a number of
 * characters that is certainly too many.
 */
export function createPreview(fits: (markdown: string) => boolean, longest: number): Preview {
  let before = '';
  let start = 0;
  /** The head of a code block or table that began before the piece. */
  let head = '';
  /** The words fitted up to this place. */
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

/** A good place to cut before `near` and after `start`. */
function boundaryBefore(markdown: string, near: number, start: number): number {
  for (const end of ['\n\n', '\n', ' ']) {
    const at = markdown.lastIndexOf(end, near - end.length) + end.length;
    if (at > start + (end === ' ' ? 0 : 1) && at >= end.length) return at;
  }
  const isHalf = /[\udc00-\udfff]/.test(markdown.charAt(near));
  return Math.max(start + 1, isHalf ? near - 1 : near);
}

/** What a piece that begins at `at` needs before it. `passed` ends there. */
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
