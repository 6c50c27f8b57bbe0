/** One line of RFC 4180 without its end; no cell is a formula. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvCell).join(',');
}

/**
 * A formula also begins after what separates cells where commas don't, as in German, and with the wide signs of Japanese
 * keyboards. Quotes alone don't help there: a cell that is not the first of its line is read on from its middle.
 */
const formula = /(^|[;\t\r\n|])( *)(?=[=@＝＠]|[+\-＋－](?![\d.,\s%]*(?:[;\t\r\n|]|$)))/g;

function csvCell(text: string): string {
  const plain = text.replace(formula, `$1$2'`);
  return /[",\r\n;\t]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
