import type { Desk } from '../../app.ts';
import { OperatorError } from '../../core/errors.ts';
import { changes, noInput, reads, target, textInput, unnamed } from '../../core/operation.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { memoriesOf } from './open-memory.ts';
import { removeTeamNote, teamNotes } from './team-notes.ts';

/** What operators can do about notes. */
export function memoryOperations(desk: Desk) {
  return {
    'memory list': reads(textInput, (person) => memoriesOf(person, desk.store)),
    'memory team': reads(noInput, () => teamNotes(desk.store)),
    /** Removes a note of the team; an operator can remove no others. */
    'memory remove': changes(target, async ({ id, by = unnamed }) => {
      if (!(await removeTeamNote(id, by, desk)))
        throw new OperatorError(`there is no note ${id} of the team: see \`${skilletHere()} memory team\``);
      return { removed: id };
    }),
  };
}
