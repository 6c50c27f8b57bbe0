import diagnostics from 'node:diagnostics_channel';
import type * as FromMarkdown from 'mdast-util-from-markdown';
import Module from 'node:module';
import type { Worker } from 'node:worker_threads';

/** Counts the Markdown that the parser reads in this thread, and the threads that are started beside it. */
export type Reading = Readonly<{
  /** The most characters in one turn of the event loop, since the last `reset`. */
  mostInTurn(): number;
  threads(): number;
  /** Resolves with the first thread since the last `reset`. */
  nextThread(): Promise<void>;
  reset(): void;
  /** Called with each new thread, until the next call. */
  onThread(see: (worker: Worker) => void): void;
}>;

/** To be called before anything is parsed: the parser is loaded on first use, and wrapped then. */
export function countReading(): Reading {
  const state = {
    inTurn: 0,
    most: 0,
    threads: 0,
    first: Promise.withResolvers<void>(),
    see: (_: Worker): void => undefined,
  };
  const count = (length: number): void => {
    if (state.inTurn === 0) setImmediate(() => (state.inTurn = 0));
    state.inTurn += length;
    state.most = Math.max(state.most, state.inTurn);
  };
  const load = Module.prototype.require;
  Module.prototype.require = Object.assign(function (this: Module, id: string): unknown {
    const loaded: unknown = load.call(this, id);
    if (id !== 'mdast-util-from-markdown') return loaded;
    const { fromMarkdown, ...others } = loaded as typeof FromMarkdown;
    return {
      ...others,
      fromMarkdown: (text: string, options?: FromMarkdown.Options) => {
        count(text.length);
        return fromMarkdown(text, options);
      },
    };
  }, load);
  diagnostics.subscribe('worker_threads', (message) => {
    state.threads += 1;
    state.first.resolve();
    state.see((message as Readonly<{ worker: Worker }>).worker);
  });
  return {
    mostInTurn: () => state.most,
    threads: () => state.threads,
    nextThread: () => state.first.promise,
    reset() {
      state.most = state.threads = 0;
      state.first = Promise.withResolvers();
      state.see = () => undefined;
    },
    onThread: (see) => void (state.see = see),
  };
}
