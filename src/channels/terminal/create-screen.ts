import { clearScreenDown, cursorTo, moveCursor, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../lib/markdown/render-text.ts';

export type Output = Writable & Readonly<{ isTTY?: boolean; columns?: number; rows?: number }>;

/** What is seen: text that stays, and below it, on a terminal, a status line and the line that is being typed. */
export type Screen = Readonly<{
  /** Prints text and a newline above the status. Gives a handle for `reprint`. Rejects when the output is gone. */
  print(text: string): Promise<number>;
  /** Prints text above what was printed last, if that is still whole on the screen and may yet be reprinted; else like `print`. */
  above(text: string): Promise<void>;
  /** Puts text in the place of what was printed last, if that is still whole on the screen; else prints it again. */
  reprint(handle: number, text: string): Promise<void>;
  /** Shows lines that go away again, each cut to the width, of many the last that fit. Does nothing without a terminal. */
  status(text: string | undefined): void;
  /** Draws the line that is being typed, after a line with this text was ended. */
  prompt(ended?: string): void;
  /** Columns of the terminal; undefined without one. */
  width(): number | undefined;
}>;

/** `editor` gives the line editor while there is one: on a terminal, until its input has ended. */
export function createScreen(output: Output, editor: () => Interface | undefined): Screen {
  let statusLine: string | undefined;
  let drawn = false;
  let handles = 0;
  let printed = { handle: 0, rows: 0, text: '' };
  // Zero columns is what some pseudo terminals have that were never given a size.
  const width = (): number => (output.columns === undefined || output.columns === 0 ? 80 : output.columns);

  function erase(rowsAbove: number): void {
    const line = editor();
    if (line === undefined) return;
    const own = drawn ? line.getCursorPos().rows : 0;
    const status = drawn ? statusRows() : 0;
    eraseRows(own + status + rowsAbove);
  }

  function statusRows(): number {
    return statusLine === undefined ? 0 : statusLine.split('\n').length;
  }

  function linesThatFit(text: string): string {
    const lines = text.split('\n').slice(-Math.max(1, (output.rows ?? 24) - 6));
    return lines.map((line) => cutToWidth(line, width() - 1)).join('\n');
  }

  function eraseRows(rows: number): void {
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    drawn = false;
  }

  function draw(): void {
    const line = editor();
    if (line === undefined) return;
    if (statusLine !== undefined) output.write(`${statusLine}\n`);
    line.prompt(true);
    drawn = true;
  }

  async function write(text: string, rowsAbove: number): Promise<void> {
    erase(rowsAbove);
    const written = new Promise<void>((resolve, reject) => {
      output.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
    });
    draw();
    await written;
  }

  /** Rows of what was printed last, where it can be written over. */
  function lastRows(): number {
    const below = statusRows() + 2;
    const isWhole = editor() !== undefined && printed.rows + below < (output.rows ?? 24);
    return isWhole && printed.handle !== 0 ? printed.rows : 0;
  }

  async function show(handle: number, text: string, rowsAbove: number): Promise<void> {
    printed = { handle, rows: rowsOf(text, width()), text };
    await write(text, rowsAbove);
  }

  return {
    async print(text) {
      const handle = ++handles;
      await show(handle, text, 0);
      return handle;
    },
    async reprint(handle, text) {
      const isLast = handle === printed.handle;
      if (isLast && text === printed.text) return;
      await show(handle, text, isLast ? lastRows() : 0);
    },
    async above(text) {
      const rows = lastRows();
      if (rows === 0) printed = { ...printed, handle: 0 };
      await write(rows === 0 ? text : `${text}\n${printed.text}`, rows);
    },
    status(text) {
      const next = text === undefined ? undefined : linesThatFit(text);
      if (editor() === undefined || next === statusLine) return;
      erase(0);
      statusLine = next;
      draw();
    },
    prompt(ended) {
      const line = editor();
      if (line !== undefined && ended !== undefined && drawn && statusLine !== undefined) {
        // The status stood above the line that was ended: it moves below it.
        const text = line.getPrompt() + ended;
        eraseRows(rowsOf(text, width()) + statusRows());
        output.write(`${text}\n`);
      }
      if (ended !== undefined) printed = { ...printed, handle: 0 };
      draw();
    },
    width: () => (editor() === undefined ? undefined : width()),
  };
}

function rowsOf(text: string, width: number): number {
  return text
    .split('\n')
    .map((row) => Math.max(1, Math.ceil(displayWidth(stripVTControlCharacters(row)) / width)))
    .reduce((sum, rows) => sum + rows, 0);
}

function cutToWidth(line: string, width: number): string {
  const text = stripVTControlCharacters(line);
  if (displayWidth(text) <= width) return line;
  let cut = '';
  let used = 0;
  for (const character of text) {
    used += displayWidth(character);
    if (used >= width) break;
    cut += character;
  }
  return `${cut}…`;
}
