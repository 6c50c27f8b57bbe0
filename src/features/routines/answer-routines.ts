import type { Button } from '../../core/channel.ts';
import type { Requester } from '../../core/tool.ts';
import type { BookDeps } from './define-routine.ts';
import { findHere, routinesHere } from './routine-book.ts';
import { routinesReader, showRoutines } from './show-routines.ts';

type Answer = Readonly<{ text: string; more: Readonly<{ buttons: readonly Button[] | undefined }> }>;

/** Answers `/routines`, or `/routines NAME` with the buttons of that routine (N2). */
export async function answerRoutines(requester: Requester, named: string, deps: BookDeps): Promise<Answer> {
  const one = named === '' ? undefined : await findHere(named, requester, deps);
  const here = one === undefined ? await routinesHere(requester, deps) : [one];
  const { text, buttons } = await showRoutines(here, routinesReader(requester), deps.store.outbox);
  return { text, more: { buttons } };
}
