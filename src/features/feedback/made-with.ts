import { invocationId } from '../../agent/models/anthropic-request.ts';
import { callsOf } from '../../agent/next-step.ts';
import type { App } from '../../app.ts';
import { invocationItem } from '../../conversations/user-entry.ts';
import type { Entry } from '../../core/entry.ts';
import type { NewTurn } from '../../core/feature.ts';
import type { MadeWith } from '../../core/rating.ts';
import { runIdOf, runJournal } from '../../runs/run-journal.ts';
import { skillVersion } from '../../skills/skill-version.ts';

/** Characters of a question that are kept. */
const longestQuestion = 4_000;

/** Reads from a turn what its answer was made with: the entries of the turn, and those of its runs. */
export async function madeWith(
  entries: readonly Entry[],
  { message, transcript, key, whose }: NewTurn,
  { store, library }: App,
): Promise<MadeWith> {
  const used = { skills: new Set<string>(), tools: new Set<string>() };
  const journals = noteUses(entries, { transcript, key }, used);
  for (const journal of journals) {
    const read = await store.transcripts.read(journal);
    const said = read.entries.map(({ entry }) => entry);
    for (const inner of noteUses(said, { transcript: journal }, used))
      if (!journals.includes(inner)) journals.push(inner);
  }
  const registry = library.current();
  const skills = [...used.skills].flatMap((name) => registry.get(name) ?? []);
  const model = entries.findLast((entry) => entry.kind === 'assistant')?.model ?? '';
  const text = message.text.slice(0, longestQuestion);
  const isAsked = message.task === undefined && text !== '';
  return {
    item: key,
    skills: skills.map((skill) => ({ name: skill.name, version: skillVersion(skill) })),
    model,
    tools: [...used.tools],
    asked: isAsked ? { by: message.sender.id, text, from: await whose(text) } : undefined,
  };
}

/** Notes the skills and tools that these entries name. Returns the journals of the runs that they started. */
function noteUses(
  entries: readonly Entry[],
  { transcript, key }: Readonly<{ transcript: string; key?: string }>,
  used: Readonly<{ skills: Set<string>; tools: Set<string> }>,
): string[] {
  const runs: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'user' && entry.about !== undefined) {
      used.skills.add(entry.about);
      if (key !== undefined && entry.item === invocationItem(key))
        runs.push(runIdOf(transcript, invocationId(key)));
    }
    for (const { id, name, input } of entry.kind === 'assistant' ? callsOf(entry) : []) {
      used.tools.add(name);
      if (name !== 'use_skill') continue;
      const { skill, resume } = input as Readonly<{ skill?: unknown; resume?: unknown }>;
      used.skills.add(String(skill));
      runs.push(typeof resume === 'string' ? resume : runIdOf(transcript, id));
    }
  }
  return runs.map((run) => runJournal(transcript, run));
}
