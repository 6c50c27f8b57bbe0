import type { OnEvent } from '../core/channel.ts';
import { createAdmit } from './admit.ts';
import { createAnswerAsks } from './answer-asks.ts';
import type { Approvals } from './approvals.ts';
import { createPresses } from './presses.ts';
import { createStrangers } from './strangers.ts';

type Needs = Omit<Parameters<typeof createAdmit>[0], 'strangers' | 'presses' | 'answerAsks'> &
  Omit<Parameters<typeof createPresses>[0], 'now' | 'approvals'> &
  Readonly<{ approvals: Approvals }>;

/** What channels hand their events to: messages, presses, and how strangers are met. */
export function createDoor(needs: Needs): OnEvent {
  return createAdmit({
    ...needs,
    strangers: createStrangers(needs),
    presses: createPresses({ ...needs, now: needs.clock.now }),
    answerAsks: createAnswerAsks(needs),
  });
}
