import type { Compaction } from './compact-entries.ts';

/** What shows people how a loop is getting on. */
export type LoopWatcher = Readonly<{
  onText?(text: string): void;
  /** Called if no word came for a minute, at most once per model call. */
  onSilence?(): void;
  /** Called when an answer is complete. `final` is true if no tool calls follow. */
  onWritten?(final: boolean): void;
  /** Called with the number of the model call, from 1. */
  onIteration?(iteration: number): void;
  onCompaction?(compaction: Compaction): void;
}>;
