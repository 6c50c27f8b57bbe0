import { sayIn } from '../../core/texts/say.ts';
import type { Button } from '../../core/channel.ts';
import type { Requester } from '../../core/tool.ts';
import type { Routine } from '../../store/routines.ts';
import { routineButtons } from './routine-buttons.ts';
import { mayManage, pauseOrResume, removeRoutine, runNow } from './routine-book.ts';
import type { BookDeps } from './define-routine.ts';
import { describeRoutine, routinesReader } from './show-routines.ts';

/**
 * `refused` is shown only to the person who pressed. Otherwise the pressed message shows `text`. `said` is what a list
 * does not show by itself.
 */
export type PressedRoutine = Readonly<
  { refused: string } | { said?: string; text: string; buttons: readonly Button[] | undefined }
>;

/**
 * Handles a press of `routine:ACTION:ID` with the rights of the person who pressed. `press` is unique, so that it
 * counts once.
 */
export async function pressRoutine(
  action: string,
  id: string,
  { press, requester }: Readonly<{ press: string; requester: Requester }>,
  deps: BookDeps,
): Promise<PressedRoutine> {
  const say = sayIn(requester.language);
  const routine = await deps.store.routines.find(id);
  if (routine === undefined) return { refused: say`This routine is gone.` };
  if (!(await mayManage(routine, requester.sender, deps)))
    return { refused: say`Only the person who set it up, or an owner, can do that.` };
  const isFixed = routine.definition.fromConfig === true;
  const show = async (one: Routine): Promise<Exclude<PressedRoutine, { refused: string }>> => ({
    text: await describeRoutine(one, routinesReader(requester), deps.store.outbox),
    buttons: routineButtons(one, say),
  });
  if (action === 'show') return show(routine);
  if (action === 'run') {
    await runNow(routine, press, requester, deps);
    const said = say`It runs now.`;
    const { text, buttons } = await show(routine);
    return { said, text: `${said}\n\n${text}`, buttons };
  }
  if (isFixed) return { refused: say`My operator set this up, so only they can change it.` };
  if (action === 'remove') {
    await removeRoutine(id, requester, deps);
    const said = say`Removed: ${routine.definition.name}.`;
    return { said, text: said, buttons: undefined };
  }
  if (action !== 'pause' && action !== 'resume')
    return { refused: say`This button has expired. Please ask me again.` };
  const booked = await pauseOrResume(routine, action === 'pause' ? 'paused' : 'active', requester, deps);
  return booked.ok ? show(booked.routine) : { refused: say`This routine is gone.` };
}
