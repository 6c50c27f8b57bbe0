import { taintAround } from '../access/taint-of.ts';
import type { Entry } from '../core/entry.ts';
import type { Provenance } from '../core/provenance.ts';
import { lastForeign, sourceOf } from './own-words.ts';
import type { Store } from '../store/store.ts';

/** Whose words a text is made of, in the conversation where it is to be kept, and the marks there (S13). */
export async function whoseWords(
  text: string,
  { transcript, sender, unattended }: Readonly<{ transcript: string; sender: string; unattended: boolean }>,
  { transcripts }: Readonly<{ transcripts: Pick<Store['transcripts'], 'read'> }>,
): Promise<Provenance> {
  const { entries, damaged } = await transcripts.read(transcript);
  const said = entries.map(({ entry }) => entry);
  const marks = await taintAround(transcripts, transcript);
  const isTheirs = !unattended && damaged === 0 && sourceOf(text, said, sender) !== 'foreign';
  if (isTheirs) return { words: 'typed', marks };
  return { ...originOf(lastForeign(text, said, sender)), marks };
}

function originOf(entry: Entry | undefined): Pick<Provenance, 'words' | 'by'> {
  if (entry?.kind === 'tool_result') return { words: 'tool' };
  if (entry?.kind !== 'user' || typeof entry.content !== 'string') return { words: 'unknown' };
  if (entry.unattended === true) return { words: 'event' };
  const [, label, by] = /^<(quote|file|message)(?: name="[^"]*")? from="([^"]*)"/m.exec(entry.content) ?? [];
  if (label === undefined) return { words: 'unknown' };
  return { words: label === 'file' ? 'file' : 'forwarded', by };
}
