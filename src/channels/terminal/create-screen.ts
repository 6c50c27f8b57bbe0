import { clearScreenDown, cursorTo, moveCursor, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../lib/text/text.ts';

export type Output = Writable & Readonly<{ isTTY?: boolean; columns?: number; rows?: number }>;

/** Text that stays, above a status line and the line that is being typed. */
export type Screen = Readonly<{
  /** Prints text and returns a handle for `reprint`. Rejects when the output is gone. */
  print(text: string): Promise<number>;
  /** Prints above the last print, if that is still completely on the screen. */
  above(text: string): Promise<void>;
  /** Replaces the last print if it is completely on the screen, or else prints again. */
  reprint(handle: number, text: string): Promise<void>;
  /** Shows the last lines that fit, cut to the width, until they change. Without a terminal it shows nothing. */
  status(text: string | undefined): void;
  /** Shows the prompt. `ended` is the text of the line that was ended before it. */
  prompt(ended?: string): void;
  /** Columns of the terminal; undefined without one. */
  width(): number | undefined;
}>;

/** Makes the screen. `editor` returns the line editor of a terminal, until its input ends. */
export function createScreen(output: Output, editor: () => Interface | undefined): Screen {
  let statusLine: string | undefined;
  let drawn = false;
  let handles = 0;
  let printed = { handle: 0, rows: 0, text: '' };
  // Some pseudo terminals never got a size.
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

  /** Rows of the last print, if it can be written over. */
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
        // The status moves below the line that ended.
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
