/** Progress on standard error: one line that changes on a terminal; elsewhere each step once, without percentages. */
export function progressLine(): Readonly<{ show(text: string): void; end(): void }> {
  const isTerminal = process.stderr.isTTY;
  let shown = '';
  return {
    show(text) {
      const now = isTerminal ? text : text.replace(/:? *\d+%$/, '');
      if (now === shown) return;
      shown = now;
      process.stderr.write(isTerminal ? `\r\u001b[K${now}` : `${now}\n`);
    },
    end() {
      if (isTerminal && shown !== '') process.stderr.write('\r\u001b[K');
      shown = '';
    },
  };
}
