import { parentOf, taintAround } from '../access/taint-of.ts';
import { callsOf } from '../agent/next-step.ts';
import type { Entry } from '../core/entry.ts';
import type { Provenance } from '../core/provenance.ts';
import { originIn, sourceOf } from '../access/own-words.ts';
import type { Transcripts } from '../store/store.ts';
import { runIdOf, runJournal } from './run-journal.ts';

/** Tools whose results are words of the person, the operator or the bot itself. */
const ownTools: readonly string[] = [
  'ask_person',
  'skill_write',
  'skill_read',
  'skills_list',
  'skills_search',
  'skills_load',
  'skills_read_file',
];

/**
 * Says whose words a text consists of that a run wrote (S13). A model composed it, so it counts as the person's only if
 * the conversation and its runs met nobody else's words.
 */
export async function whoseDraft(
  text: string,
  { run, sender }: Readonly<{ run: string; sender: string }>,
  { transcripts }: Readonly<{ transcripts: Transcripts }>,
): Promise<Provenance> {
  const taint = await taintAround(transcripts, run);
  const met = await metUpTo(run, transcripts);
  if (met !== undefined && sourceOf(text, met, sender) !== 'foreign') return { words: 'typed', taint };
  return { ...(originIn(text, met ?? [], sender) ?? { words: 'unknown' }), taint };
}

/** Undefined if something is damaged or gone. */
type Met = readonly Entry[] | undefined;

/** All entries of a transcript and of those around it, the outermost first. */
async function metUpTo(id: string, transcripts: Transcripts): Promise<Met> {
  const parent = parentOf(id);
  const around = parent === id ? [] : await metUpTo(parent, transcripts);
  const own = await metIn(id, transcripts);
  return around === undefined || own === undefined ? undefined : [...around, ...own];
}

async function metIn(id: string, transcripts: Transcripts): Promise<Met> {
  const { entries, damaged } = await transcripts.read(id);
  if (entries.length === 0 || damaged > 0) return undefined;
  const all = entries.map(({ entry }) => entry);
  const calls = new Map(
    all.flatMap((entry) =>
      entry.kind === 'assistant' ? callsOf(entry).map(({ id: call, name }) => [call, name] as const) : [],
    ),
  );
  const isRun = parentOf(id) !== id;
  const met: Entry[] = [];
  for (const entry of all) {
    // What a run was told is in the conversation as well, or a model said it.
    if (entry.kind === 'assistant' || (isRun && entry.kind === 'user')) continue;
    const tool = entry.kind === 'tool_result' ? calls.get(entry.toolUseId) : undefined;
    if (tool !== undefined && ownTools.includes(tool)) continue;
    // A run's result is made of what the run met, so that counts instead.
    const inner =
      entry.kind === 'tool_result' && tool === 'use_skill'
        ? await metIn(runJournal(id, runIdOf(id, entry.toolUseId)), transcripts)
        : undefined;
    met.push(...(inner ?? [entry]));
  }
  return met;
}
