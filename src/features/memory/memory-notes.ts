import type { Notes } from '../../core/feature.ts';
import { joinTaint, type Entry, type Taint } from '../../core/entry.ts';
import type { Memory } from '../../core/memory.ts';
import { englishOrigin } from '../../core/provenance.ts';
import { labelled } from '../../lib/text/escape-labels.ts';
import { blockOverhead, notesBlock, notesIn } from '../../runs/notes-block.ts';

/** How many characters the notes of a turn may have, with their labels (K4). */
const longest = 2_000;
/** The notes for a turn's message. Undefined if the model knows them from an earlier message (M13). */
export function memoryNotes(memories: readonly Memory[], before: readonly Entry[]): Notes | undefined {
  const lines: string[] = [];
  let taint: Taint | undefined;
  let left = longest - blockOverhead;
  for (const memory of memories) {
    const line = noteOf(memory);
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
    taint = joinTaint(taint, memory.taint);
  }
  const known = before.map(notesIn).findLast((text) => text !== undefined);
  if (lines.length === 0 && known === undefined) return undefined;
  const text = notesBlock(lines);
  return text === known ? undefined : { text, taint };
}

/**
 * A note as the model reads it. `id` in the label says whose words they are, so that they are removed with the person
 * (Q12).
 */
export function noteOf({ id, text, author, authorName, at, from }: Memory): string {
  const origin = englishOrigin(from);
  const day = new Date(at).toISOString().slice(0, 10);
  return labelled('quote', text, {
    from: authorName,
    id: author,
    note: [`note ${id}`, day, ...(origin === undefined ? [] : [`from ${origin}`])].join(', '),
  });
}
