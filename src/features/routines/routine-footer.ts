import type { Footer } from '../../core/feature.ts';
import { sayOrigin } from '../../core/provenance.ts';
import type { Requester } from '../../core/tool.ts';
import { sayIn } from '../../core/texts/say.ts';
import { escapeMarkdown } from '../../lib/markdown/write-markdown.ts';
import type { BookDeps } from './define-routine.ts';
import { askForZone } from './person-zone.ts';
import { findHere, routineId } from './routine-book.ts';
import { nextWords, routinesReader } from './show-routines.ts';

type Call = Readonly<{ id: string; name: string; input: unknown }>;

/**
 * Says which routines the calls of a turn set up, changed and removed, and asks for the time zone if one was assumed
 * (S13, U20).
 */
export async function routineFooter(
  done: readonly Call[],
  { turn, requester }: Readonly<{ turn: string; requester: Requester }>,
  deps: BookDeps,
): Promise<Footer> {
  const say = sayIn(requester.language);
  const lines: string[] = [];
  let isAssumed = false;
  for (const { id, name, input } of done) {
    if (name === 'routine_remove') lines.push(say`Removed a routine.`);
    if (name !== 'routine_add' && name !== 'routine_change') continue;
    const { id: named } = input as Readonly<{ id?: unknown }>;
    const routine = await (name === 'routine_add'
      ? deps.store.routines.find(routineId(turn, id))
      : findHere(String(named), requester, deps));
    if (routine === undefined) continue;
    isAssumed ||= routine.definition.assumed !== undefined;
    const [next] = nextWords(routine, routinesReader(requester));
    const { name: called, from } = routine.definition;
    const origin = from && sayOrigin(from, say);
    const words = [
      escapeMarkdown(called),
      ...(next === undefined ? [] : [next]),
      ...(origin === undefined ? [] : [say`From: ${origin}`]),
    ].join(', ');
    lines.push(name === 'routine_add' ? say`Set up: ${words}` : say`Changed: ${words}`);
  }
  const question = isAssumed ? await askForZone(turn, requester, deps) : undefined;
  return { text: lines.map((line) => `\n\n⏰ ${line}`).join(''), question };
}
