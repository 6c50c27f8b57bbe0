import { z } from 'zod';
import type { Desk } from '../app.ts';
import { createHolds } from '../access/holds.ts';
import { OperatorError } from '../core/errors.ts';
import { changes, noInput, reads, target, textInput, unnamed } from '../core/operation.ts';
import { skilletHere } from '../core/skillet-here.ts';

const heldId = z.string().regex(/^[a-z]+:\S+$/, {
  error: 'write the whole id of a person or a chat, such as "telegram:42" or "telegram:-100123"',
});
const newHold = target.extend({ id: heldId, reason: textInput.optional() });

/** What operators can do about legal holds (L18). */
export function holdOperations(desk: Desk) {
  const holds = createHolds(desk);
  return {
    'hold list': reads(noInput, () => holds.list()),
    'hold add': changes(newHold, async ({ id, reason, by = unnamed }) => {
      if (!(await holds.add({ id, by, reason })))
        throw new OperatorError(`${id} is under a hold already: see \`${skilletHere()} hold list\``);
      return { held: id };
    }),
    /** Returns who was to be forgotten meanwhile. */
    'hold remove': changes(target.extend({ id: heldId }), async ({ id, by = unnamed }) => {
      const hold = await holds.remove(id, by);
      if (hold === undefined)
        throw new OperatorError(`${id} is under no hold: see \`${skilletHere()} hold list\``);
      return { removed: id, waiting: hold.waiting };
    }),
  };
}
