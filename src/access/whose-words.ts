import { taintAround } from './taint-of.ts';
import type { Provenance } from '../core/provenance.ts';
import { borrowedFrom, originIn, sourceOf } from './own-words.ts';
import type { Store } from '../store/store.ts';

/** Whose words a text consists of, in the conversation where it will be kept, and the taint there (S13). */
export async function whoseWords(
  text: string,
  { transcript, sender, unattended }: Readonly<{ transcript: string; sender: string; unattended: boolean }>,
  { transcripts }: Readonly<{ transcripts: Store['transcripts'] }>,
): Promise<Provenance> {
  const { entries, damaged } = await transcripts.read(transcript);
  const said = entries.map(({ entry }) => entry);
  const taint = await taintAround(transcripts, transcript);
  const isTheirs = !unattended && damaged === 0 && sourceOf(text, said, sender) !== 'foreign';
  if (isTheirs) return { words: 'typed', taint };
  return { ...(originIn(text, said, sender) ?? { words: 'unknown' }), taint };
}

/**
 * Whose words a short title consists of. Models write titles, so it is somebody else's only if it has a word that only
 * they said.
 */
export async function whoseTitle(
  text: string,
  { transcript, sender }: Readonly<{ transcript: string; sender: string }>,
  { transcripts }: Readonly<{ transcripts: Store['transcripts'] }>,
): Promise<Provenance> {
  const { entries, damaged } = await transcripts.read(transcript);
  const said = entries.map(({ entry }) => entry);
  const taint = await taintAround(transcripts, transcript);
  const from = damaged > 0 ? ({ words: 'unknown' } as const) : borrowedFrom(text, said, sender);
  return { ...(from ?? { words: 'typed' }), taint };
}
