import { z } from 'zod';
import type { Taint } from './entry.ts';
import type { Say } from './texts/say.ts';

/** `event`: of a hook or a routine. `unknown`: of nobody who can be told. */
const wordSources = ['typed', 'forwarded', 'file', 'tool', 'event', 'unknown'] as const;

/** Of what lasts: whose words made it, and what private data its conversation held (S13, S7). */
export type Provenance = Readonly<{
  words: (typeof wordSources)[number];
  /** Who is said to have written it. */
  by?: string | undefined;
  marks?: Taint | undefined;
}>;

export const storedProvenance: z.ZodType<Provenance> = z.object({
  words: z.enum(wordSources),
  by: z.string().optional(),
  marks: z.union([z.string(), z.literal(true)]).optional(),
});

/** Undefined if the person typed it. */
export function sayOrigin({ words, by }: Provenance, say: Say): string | undefined {
  switch (words) {
    case 'typed':
      return undefined;
    case 'forwarded':
      return by === undefined ? say`a message of somebody else` : say`a message of ${by}`;
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
