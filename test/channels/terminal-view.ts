import { PassThrough } from 'node:stream';

/** A terminal that keeps what it shows: enough of one for a line editor and a status line. */
export function createTerminalView(columns = 40, rows = 24) {
  const grid: string[][] = [[]];
  const cursor = { row: 0, column: 0 };
  const waiting = new Set<() => void>();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  let raw = '';

  const line = (row: number): string[] => (grid[row] ??= []);
  const commands: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => (cursor.row = Math.max(0, cursor.row - count)),
    B: (count) => (cursor.row += count),
    C: (count) => (cursor.column += count),
    D: (count) => (cursor.column = Math.max(0, cursor.column - count)),
    G: (count) => (cursor.column = count - 1),
    J: () => {
      line(cursor.row).length = Math.min(line(cursor.row).length, cursor.column);
      grid.length = Math.min(grid.length, cursor.row + 1);
    },
    K: () => (line(cursor.row).length = Math.min(line(cursor.row).length, cursor.column)),
  };

  function show(character: string): void {
    if (character === '\n') {
      cursor.row += 1;
      cursor.column = 0;
      line(cursor.row);
    } else if (character === '\r') cursor.column = 0;
    else {
      if (cursor.column >= columns) show('\n');
      for (let column = line(cursor.row).length; column < cursor.column; column++)
        line(cursor.row)[column] = ' ';
      line(cursor.row)[cursor.column++] = character;
    }
  }

  output.on('data', (data: Buffer) => {
    const text = data.toString();
    raw += text;
    // eslint-disable-next-line no-control-regex -- terminal sequences are what is read here
    for (const [all, count, command] of text.matchAll(/\u001b\[\??(\d*)([A-Za-z])|[^]/gu)) {
      if (command === undefined) show(all);
      else commands[command]?.(count === '' ? 1 : Number(count));
    }
    for (const wake of [...waiting]) wake();
  });

  return {
    input,
    output,
    raw: () => raw,
    /** The rows that are shown, without empty ones. */
    rows: () => grid.map((row) => row.join('').trimEnd()).filter((row) => row !== ''),
    type: (text: string) => input.write(text),
    /** Resolves when the rows are as wanted; a row may be given in part. */
    async until(wanted: (rows: readonly string[]) => boolean): Promise<void> {
      while (!wanted(this.rows())) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
  };
}
