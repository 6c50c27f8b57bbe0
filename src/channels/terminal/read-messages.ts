import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Output } from './create-screen.ts';

/** They make a terminal mark pastes. */
const markPastes = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

export type Typed = Readonly<{
  /** Undefined without a terminal, or after its input ended. */
  editor(): Interface | undefined;
  close(): void;
}>;

type Key = Readonly<{ name?: string }> | undefined;

/**
 * On a terminal a message is a line, or a paste with its last line. In a pipe each line is one, or all with `whole`.
 */
export function readMessages(options: {
  input: Readable & Readonly<{ isTTY?: boolean }>;
  output: Output;
  prompt: string;
  whole: boolean;
  /** Without the slash. */
  completions(): readonly string[];
  /** More may belong to the message. */
  onLine(text: string): void;
  onText(text: string): void;
  /** With half a line typed, it clears that. */
  onInterrupt(): void;
  onEnd(): void;
}): Typed {
  const { input, output, whole, completions } = options;
  const terminal = input.isTTY === true && output.isTTY === true;
  const line = createInterface({
    input,
    terminal,
    prompt: options.prompt,
    crlfDelay: Infinity,
    output: terminal ? output : undefined,
    completer: terminal ? completer : undefined,
    historySize: terminal ? 500 : undefined,
    removeHistoryDuplicates: terminal ? true : undefined,
  });
  const state = { pasting: false, ended: false, lines: [] as string[] };

  function completer(typed: string): [string[], string] {
    if (!/^\/\S*$/.test(typed)) return [[], typed];
    const all = completions().map((name) => `/${name} `);
    return [all.filter((name) => name.startsWith(typed)), typed];
  }

  function take(): void {
    const text = state.lines.splice(0).join('\n');
    if (text.trim() !== '') options.onText(text);
  }

  line.on('line', (text) => {
    state.lines.push(text);
    if (terminal) options.onLine(text);
    if (whole || state.pasting) return;
    // Some terminals don't mark pastes.
    if (!terminal) take();
    else setImmediate(take);
  });
  line.on('close', () => {
    if (state.ended) return;
    state.ended = true;
    if (terminal) output.write(`${markPastes.off}\n`);
    take();
    options.onEnd();
  });
  if (!terminal) return { editor: () => undefined, close: () => line.close() };

  const onKey = (_: unknown, key: Key): void => {
    if (key?.name === 'paste-start') state.pasting = true;
    if (key?.name === 'paste-end') state.pasting = false;
  };
  input.on('keypress', onKey);
  line.on('SIGINT', () => {
    const isEmpty = line.line === '' && state.lines.length === 0;
    state.lines.length = 0;
    if (isEmpty) return options.onInterrupt();
    line.write(null, { ctrl: true, name: 'e' });
    line.write(null, { ctrl: true, name: 'u' });
  });
  output.write(markPastes.on);
  return {
    editor: () => (state.ended ? undefined : line),
    close() {
      input.off('keypress', onKey);
      line.close();
    },
  };
}
