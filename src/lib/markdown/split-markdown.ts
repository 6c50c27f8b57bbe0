import { hasVisible } from '../text/text.ts';
import { cutBlock, cutText, largestFit } from './cut-block.ts';
import { visibleText, type MarkdownBlock, type MarkdownDocument } from './document.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { withoutControls } from './sanitize-markdown.ts';
import { escapeMarkdown, writeAndRead, writeMarkdown } from './write-markdown.ts';

/**
 * Cuts Markdown into pieces: between blocks, items, rows, lines, sentences or words, at worst inside a word. Fences
 * open again and table headers repeat. `fits` is called with growing documents. A single character is a piece even if
 * it does not fit. Blank text has no pieces. `longest` is how many characters a piece may have with its marks.
 */
export function splitMarkdown(
  markdown: string,
  fits: (piece: MarkdownDocument) => boolean,
  longest = Infinity,
): readonly string[] {
  const document = parseMarkdown(markdown);
  if (!hasVisible(visibleText(document))) return [];
  if (markdown.length <= longest && fits(document)) return [markdown];
  const fitsWritten = (written: ReturnType<typeof writeAndRead>): boolean =>
    written.markdown.length <= longest && fits(written.document);
  return splitDocument(document, fits).flatMap((piece) => {
    const written = writeAndRead(piece);
    if (fitsWritten(written)) return [written.markdown];
    // Marks without a Markdown form become plain text, which may be longer.
    return splitDocument(piece, (part) => fits(part) && fitsWritten(writeAndRead(part))).map(writeMarkdown);
  });
}

/** In characters. Fits every channel, also when it is escaped. */
const longestPlain = 2_500;

/** Cuts text that nobody could read in time (S15). It shows the text with its marks as it was written. */
export function splitPlain({ markdown }: Readonly<{ markdown: string }>): readonly string[] {
  const pieces: string[] = [];
  for (let rest = withoutControls(markdown); rest !== '';) {
    const cut = cutText(rest, 'words', (part) => part.length <= longestPlain);
    pieces.push(cut?.part ?? rest);
    rest = cut?.rest ?? '';
  }
  return pieces.filter(hasVisible).map(escapeMarkdown);
}

function splitDocument(
  document: MarkdownDocument,
  fits: (piece: MarkdownDocument) => boolean,
): readonly MarkdownDocument[] {
  const pieces: MarkdownDocument[] = [];
  const waiting = document.children.toReversed();
  while (waiting.length > 0) {
    const next = (count: number): readonly MarkdownBlock[] => waiting.slice(-count).toReversed();
    const fitting = largestFit(waiting.length, (count) => fits(asDocument(next(count))));
    const whole = fitting === 0 ? [] : next(fitting);
    waiting.length -= whole.length;
    const piece = [...whole];
    const following = waiting.at(-1);
    if (following !== undefined) {
      const tooLong = !fits(asDocument([following]));
      const cut = tooLong ? cutBlock(following, (part) => fits(asDocument([...whole, part]))) : undefined;
      if (cut !== undefined) {
        waiting.pop();
        waiting.push(...cut.rest.toReversed());
        piece.push(cut.part);
      } else if (whole.length === 0) {
        // It is better that the platform refuses it than that it is lost.
        waiting.pop();
        piece.push(following);
      } else if (whole.length > 1 && whole.at(-1)?.type === 'heading') {
        waiting.push(...piece.splice(-1));
      }
    }
    if (visibleText(asDocument(piece)).trim() !== '') pieces.push(asDocument(piece));
  }
  return pieces;
}

function asDocument(children: readonly MarkdownBlock[]): MarkdownDocument {
  return { type: 'root', children };
}
