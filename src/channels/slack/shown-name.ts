import { oneLine } from '../../lib/text/text.ts';

/** What people are called, by their Slack user id. Shown only: whoever decides looks at the id (A9). */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();

/** The first of these names that is not blank: one line of 80 characters at most, nothing invisible in it. */
export function shownName(...candidates: readonly (string | null | undefined)[]): string | undefined {
  for (const candidate of candidates) {
    const name = oneLine((candidate ?? '').replace(invisible, ''), 80);
    if (name !== '') return name;
  }
  return undefined;
}

/** Format characters, which can turn or hide text; the two joiners stay, as emoji and some scripts need them. */
const invisible = /(?![\u200c\u200d])\p{Cf}/gu;
