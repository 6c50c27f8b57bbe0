import { z } from 'zod';
import { oneLine } from '../lib/text/text.ts';
import type { Taint } from './entry.ts';
import { sayIn, type Say } from './texts/say.ts';

/** Where words are from. `event` is a hook or a routine. `unknown` means that nobody can tell. */
const wordSources = ['typed', 'forwarded', 'file', 'tool', 'event', 'unknown'] as const;

/** Kept with what lasts: whose words made it, and which private data its conversation held (S13, S7). */
export type Provenance = Readonly<{
  words: (typeof wordSources)[number];
  /** The name of the person said to have written it. */
  by?: string | undefined;
  taint?: Taint | undefined;
}>;

/**
 * Kept with a note, a skill or an approval. Undefined if nobody knows; it then counts as nobody's own words.
 */
export type WordOrigin = Provenance | undefined;

export const storedOrigin: z.ZodType<NonNullable<WordOrigin>> = z.object({
  words: z.enum(wordSources),
  by: z.string().optional(),
});

export const storedProvenance: z.ZodType<Provenance> = z.object({
  words: z.enum(wordSources),
  by: z.string().optional(),
  taint: z.union([z.string(), z.literal(true)]).optional(),
});

/** Tells whose words a text is in the conversation or run where it is said (S13). */
export type WhoseWords = (text: string, what?: 'title') => Promise<Provenance>;

/** Names the source of words for people; undefined if the person typed them. */
export function sayOrigin(of: WordOrigin, say: Say): string | undefined {
  const { words, by } = of ?? { words: 'unknown' };
  switch (words) {
    case 'typed':
      return undefined;
    case 'forwarded':
      return by === undefined ? say`a message of somebody else` : say`a message of ${shown(by)}`;
    case 'file':
      return say`a file`;
    case 'tool':
      return say`what a tool or a skill returned`;
    case 'event':
      return say`an event or a routine`;
    case 'unknown':
      return say`text that you did not type`;
  }
}

/** A name without characters by which it could bring formatting, links or mentions into the bot's words. */
function shown(name: string): string {
  return oneLine(name.replace(/[*_`[\]<>~|\\#@]/g, ' '), longestName).trim();
}

const longestName = 60;

/** Names the source of words for models and operators, in English. */
export function englishOrigin(of: WordOrigin): string | undefined {
  return of === undefined || of.words === 'unknown' ? 'an unknown source' : sayOrigin(of, sayIn(undefined));
}
