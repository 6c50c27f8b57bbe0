import { z } from 'zod';
import { estimateTokens } from '../agent/plan-compaction.ts';
import { stoppedHere } from '../agent/run-loop.ts';
import type { Entry } from '../core/entry.ts';
import { noTokens } from '../core/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';

/**
 * The words of an answer that is being written, as far as they were shown. They are kept until the answer is whole, in
 * case its turn is stopped and the process dies before it has stored them (U15). `part` is the outbox key of the answer.
 */
export type KeptWords = Readonly<{
  keep(part: string, markdown: string): Promise<void>;
  drop(part: string): Promise<void>;
  /**
   * Puts them into the transcript of a turn that was stopped, with a note that it was. Returns them; empty if there are
   * none, or if the transcript has them. May be repeated.
   */
  restore(part: string, into: Readonly<{ transcript: string; model: string }>): Promise<string>;
}>;

/** What is stored: the words, and when they were shown, in milliseconds since 1970. */
const kept = z.object({ text: z.string(), at: z.number() });

/** How often words are stored, in milliseconds. They come faster than anybody presses. */
const keepEveryMs = 1_000;
/** Words of a turn that is never taken up again go after a day, in milliseconds. */
const keptMs = 24 * 60 * 60_000;

export function createKeptWords({ store, clock }: Readonly<{ store: Store; clock: Clock }>): KeptWords {
  const stored = store.keyed('shown-words');
  const keptAt = new Map<string, number>();
  return {
    async keep(part, markdown) {
      const now = clock.now();
      if (now - (keptAt.get(part) ?? -Infinity) < keepEveryMs) return;
      keptAt.set(part, now);
      await stored.set(part, { text: markdown, at: now }, keptMs);
    },
    async drop(part) {
      if (keptAt.delete(part)) await stored.delete(part);
    },
    async restore(part, { transcript, model }) {
      const words = kept.safeParse(await stored.get(part)).data;
      if (words === undefined) return '';
      keptAt.set(part, 0);
      const { entries } = await store.transcripts.read(transcript);
      const last = entries.at(-1)?.entry;
      // Otherwise the answer, these words or another answer in their place were stored since.
      if ((last?.kind !== 'user' && last?.kind !== 'tool_result') || last.at > words.at) return '';
      const text = words.text.trimEnd();
      const at = clock.now();
      const said: Entry = {
        kind: 'assistant',
        content: [{ type: 'text', text, citations: null }],
        stopReason: 'end_turn',
        tokens: { ...noTokens, output: estimateTokens(text) },
        model,
        at,
      };
      const told: Entry = { kind: 'notice', text: stoppedHere, at };
      await store.commit({ entries: [said, told].map((entry) => ({ transcript, entry })) });
      return text;
    },
  };
}
