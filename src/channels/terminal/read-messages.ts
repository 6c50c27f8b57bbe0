import { createInterface, type Completer, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { mostLines, type History } from './history.ts';
import type { Output } from './create-screen.ts';

/** Sequences by which a terminal begins and ends to mark pastes. */
const markPastes = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

export type Typed = Readonly<{
  /** The line editor; undefined without a terminal, or after its input ended. */
  editor(): Interface | undefined;
  close(): void;
}>;

type Key = Readonly<{ name?: string; ctrl?: boolean; meta?: boolean }> | undefined;

/**
 * Reads messages. On a terminal a message is a line, or a paste with its last line; Alt-Enter begins another line of
 * it. Ctrl-R looks for an earlier line that contains what is typed. In a pipe each line is a message, or all of them
 * with `whole`.
 */
export function readMessages(options: {
  input: Readable & Readonly<{ isTTY?: boolean }>;
  output: Output;
  prompt: string;
  whole: boolean;
  /** Lines typed before; only used on a terminal. */
  history: History | undefined;
  /** Names to complete, without the slash. */
  completions(): readonly string[];
  /** Called for each line. More lines may belong to the message. */
  onLine(text: string): void;
  onText(text: string): void;
  /** Called at Ctrl-C. If half a line is typed, Ctrl-C only clears that. */
  onInterrupt(): void;
  onEnd(): void;
}): Typed {
  const { input, output, whole, history, completions } = options;
  const terminal = input.isTTY === true && output.isTTY === true;
  const line = createInterface({
    input,
    terminal,
    prompt: options.prompt,
    crlfDelay: Infinity,
    output: terminal ? output : undefined,
    completer: terminal ? completerOf(completions) : undefined,
    history: terminal && history !== undefined ? [...history.lines] : undefined,
    historySize: terminal ? mostLines : undefined,
    removeHistoryDuplicates: terminal ? true : undefined,
  });
  const state = { pasting: false, goesOn: false, ended: false, lines: [] as string[] };

  function take(): void {
    const text = state.lines.splice(0).join('\n');
    if (text.trim() !== '') options.onText(text);
  }

  line.on('line', (text) => {
    state.lines.push(text);
    if (terminal) {
      options.onLine(text);
      history?.add(text);
    }
    if (whole || state.pasting || state.goesOn) return;
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

  const searchBack = createSearchBack(line, history);
  const onKey = (_: unknown, key: Key): void => {
    if (key?.name === 'paste-start') state.pasting = true;
    if (key?.name === 'paste-end') state.pasting = false;
    if (key?.ctrl === true && key.name === 'r') searchBack();
    if (key?.meta === true && key.name === 'return') {
      state.goesOn = true;
      line.write(null, { name: 'return' });
      state.goesOn = false;
    }
  };
  input.on('keypress', onKey);
  line.on('SIGINT', () => {
    const isEmpty = line.line === '' && state.lines.length === 0;
    state.lines.length = 0;
    if (isEmpty) return options.onInterrupt();
    replaceLine(line, '');
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

function completerOf(completions: () => readonly string[]): Completer {
  return (typed) => {
    if (!/^\/\S*$/.test(typed)) return [[], typed];
    const all = completions().map((name) => `/${name} `);
    return [all.filter((name) => name.startsWith(typed)), typed];
  };
}

/** Returns a function that shows the next older line which contains what was typed. */
function createSearchBack(line: Interface, history: History | undefined): () => void {
  const search = { typed: history?.lines ?? [], wanted: '', shown: '', at: -1 };
  line.on('history', (lines) => (search.typed = [...lines]));
  return () => {
    if (line.line !== search.shown) Object.assign(search, { wanted: line.line, at: -1 });
    const { typed, wanted, at } = search;
    const found = typed.findIndex((one, index) => index > at && one.includes(wanted) && one !== line.line);
    if (found === -1) return;
    Object.assign(search, { shown: typed[found], at: found });
    replaceLine(line, search.shown);
  };
}

function replaceLine(line: Interface, text: string): void {
  line.write(null, { ctrl: true, name: 'e' });
  line.write(null, { ctrl: true, name: 'u' });
  line.write(text);
}
