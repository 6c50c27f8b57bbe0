import type { MarkdownDocument } from './document.ts';
import { renderText, type TextStyle } from './render-text.ts';

/** No marks at all. The basis of other styles: what they write reads the same once their marks are taken away. */
export const plainStyle: TextStyle = {
  text: (value) => value,
  bold: (inner) => inner,
  italic: (inner) => inner,
  strike: (inner) => inner,
  code: (value) => value,
  link: (inner) => inner,
  heading: (inner) => inner,
  pre: (value) => value,
  quote: (inner) => inner,
  rule: '———',
};

/** The document laid out as plain text. */
export function plainText(document: MarkdownDocument): string {
  return renderText(document, plainStyle);
}
