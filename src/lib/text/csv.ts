/** One line of CSV (RFC 4180) without its end. No cell can act as a formula. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvCell).join(',');
}

/**
 * Matches where a spreadsheet would read a formula. One also begins after what separates cells in other languages, as
 * in German, and with the wide signs of Japanese keyboards. Quotes alone don't help: a cell that is not the first of
 * its line may be read from its middle.
 */
const formula = /(^|[;\t\r\n|])( *)(?=[=@＝＠]|[+\-＋－](?![\d.,\s%]*(?:[;\t\r\n|]|$)))/g;

function csvCell(text: string): string {
  const plain = text.replace(formula, `$1$2'`);
  return /[",\r\n;\t]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
