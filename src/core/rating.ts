import type { Provenance } from './provenance.ts';

/** What an answer of the agent was made with. A rating of the answer keeps it (U17). */
export type MadeWith = Readonly<{
  /** Key of the item that it answers. */
  item: string;
  /** The skills that it used. `version` is the hash of a skill's files at that time, without its tests. */
  skills: readonly Readonly<{ name: string; version: string }>[];
  /** The provider's name of the model that wrote it. */
  model: string;
  /** Names of the tools that the agent and its runs called. */
  tools: readonly string[];
  /** The message that it answers, with whose words those are (S13). Undefined if nobody asked, as for a hook. */
  asked?: Readonly<{ by: string; text: string; from: Provenance }>;
}>;

/** The two buttons below an answer by which people rate it. The labels are for screen readers. */
export type Thumbs = Readonly<{ up: string; down: string }>;

export type Thumb = keyof Thumbs;

export const thumbWord = 'thumb';

/** The action of a thumb. The one that takes it back is only sent where thumbs are reactions. */
export function thumbAction(thumb: Thumb, change?: 'taken back'): string {
  return [thumbWord, thumb, ...(change === undefined ? [] : [change])].join(':');
}

/** How people rate answers: by buttons below them, or by reactions of the platform. */
export type ThumbsBy = 'buttons' | 'reactions';
