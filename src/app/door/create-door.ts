import type { OnEvent, WriteCommand } from '../../core/channel.ts';
import { createAdmit } from './admit.ts';
import { createAnswerAsks } from './answer-asks.ts';
import type { Approvals } from '../gates/approvals.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import { createMeetGroup } from './meet-group.ts';
import { createPresses } from './presses.ts';
import { createStrangers } from './strangers.ts';

type Needs = Omit<
  Parameters<typeof createAdmit>[0],
  'strangers' | 'meetGroup' | 'presses' | 'answerAsks' | 'signIns'
> &
  Omit<Parameters<typeof createPresses>[0], 'now' | 'approvals' | 'confirmations'> &
  Parameters<typeof createMeetGroup>[0] &
  Readonly<{
    writeCommand: WriteCommand;
    approvals: Approvals;
    capabilities: Pick<Capabilities, 'signIns' | 'confirmations'>;
  }>;

/** What channels hand their events to: messages, presses, and how strangers are met. */
export function createDoor(needs: Needs): OnEvent {
  const { signIns, confirmations } = needs.capabilities;
  return createAdmit({
    ...needs,
    strangers: createStrangers(needs),
    meetGroup: createMeetGroup(needs),
    signIns,
    presses: createPresses({ ...needs, confirmations, now: needs.clock.now }),
    answerAsks: createAnswerAsks({ ...needs, confirmations }),
  });
}
