import { joinTaint, taintIn, type Taint } from '../core/entry.ts';
import type { Store, Transcripts } from '../store/store.ts';

export async function taintOf(transcripts: Transcripts, id: string): Promise<Taint | undefined> {
  const { entries, damaged } = await transcripts.read(id);
  return taintIn(
    entries.map(({ entry }) => entry),
    damaged,
  );
}

/** The private data of a transcript, together with that of the runs around it and of what its conversation started. */
export async function taintAround(transcripts: Transcripts, id: string): Promise<Taint | undefined> {
  const own = await taintOf(transcripts, id);
  const parent = parentOf(id);
  const outer = parent === id ? taintOf(transcripts, startedIn(id)) : taintAround(transcripts, parent);
  return joinTaint(own, await outer);
}

/** Name of the journal of what was started in a conversation. `/new` ends it. */
export function startedIn(id: string): string {
  return `${conversationOf(id)}#taint`;
}

/** Name of the journal of a chat's folder, which `/new` does not end. */
export function roomOf(id: string): string {
  return `${id.split(/[@#]/)[0]}#room`;
}

/** Adds taint to a journal. Known taint is written again once a day, so that retention keeps the journal. */
export async function recordTaint(
  store: Store,
  journal: string,
  taint: Taint | undefined,
  now: number,
): Promise<void> {
  if (taint === undefined) return;
  const { entries } = await store.transcripts.read(journal);
  const known = taintIn(entries.map(({ entry }) => entry));
  const last = entries.at(-1)?.entry.at ?? 0;
  const all = joinTaint(known, taint) ?? taint;
  if (all === known && now - last < dayMs) return;
  await store.commit({ entries: [{ transcript: journal, entry: { kind: 'taint', taint: all, at: now } }] });
}

const dayMs = 86_400_000;

/** Whether the sender wrote this address since the last summary (S7). */
export async function wroteAddress(
  transcripts: Transcripts,
  id: string,
  of: Readonly<{ sender: string; address: string }>,
): Promise<boolean> {
  const { entries } = await transcripts.read(conversationOf(id));
  return entries.some(
    ({ entry }) =>
      entry.kind === 'user' && entry.sender === of.sender && entry.urls?.includes(of.address) === true,
  );
}

/** The transcript in which a run was started. For any other transcript, itself. */
export function parentOf(id: string): string {
  return id.replace(runEnd, '');
}

const runEnd = /#run:[0-9a-f]{16}$/;

function conversationOf(id: string): string {
  const parent = parentOf(id);
  return parent === id ? id : conversationOf(parent);
}
