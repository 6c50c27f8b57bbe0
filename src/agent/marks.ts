import type { Entry } from '../core/entry.ts';
import type { Transcripts } from '../stores/store.ts';

type Reads = Pick<Transcripts, 'read'>;

/** Whether entries hold, or stand for, what a sensitive skill or a capability gave (S7). */
export function isMarked(entries: readonly Entry[]): boolean {
  return entries.some((entry) => 'marks' in entry && entry.marks === true);
}

/** The same of what is stored of a transcript or run. One that has an entry which can't be read counts as marked: it might be that one. */
export async function holdsMark(transcripts: Reads, id: string): Promise<boolean> {
  const { entries, damaged } = await transcripts.read(id);
  return damaged > 0 || isMarked(entries.map(({ entry }) => entry));
}

/** Whether this person wrote this address in the conversation that a transcript or run belongs to, since its last summary (S7). */
export async function wroteAddress(
  transcripts: Reads,
  id: string,
  of: Readonly<{ sender: string; address: string }>,
): Promise<boolean> {
  const { entries } = await transcripts.read(conversationOf(id));
  return entries.some(
    ({ entry }) =>
      entry.kind === 'user' && entry.sender === of.sender && entry.urls?.includes(of.address) === true,
  );
}

/** The transcript that began this run; of a conversation's own, itself. */
export function parentOf(id: string): string {
  return id.replace(runEnd, '');
}

const runEnd = /#run:[0-9a-f]{16}$/;

/** The transcript of the conversation that a run is for, however deep it is. */
function conversationOf(id: string): string {
  return runEnd.test(id) ? conversationOf(parentOf(id)) : id;
}
