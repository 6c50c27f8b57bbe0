import type { ChannelEvent, OnEvent, WriteCommand } from '../../core/channel.ts';
import type { Sender } from '../../core/message.ts';
import { createAdmit } from './admit.ts';
import { createApproveByText } from './approve-by-text.ts';
import type { Approvals } from '../../approvals/approvals.ts';
import type { Capabilities } from '../../capabilities/create-capabilities.ts';
import { createMeetGroup } from './groups.ts';
import { createPresses } from './presses.ts';
import { createStrangers } from '../../access/pairing.ts';
import { createHomePage } from './home-page.ts';
import { createSuggestPrompts, createVisits } from './visits.ts';

type Needs = Omit<
  Parameters<typeof createAdmit>[0],
  'strangers' | 'meetGroup' | 'presses' | 'visits' | 'suggestPrompts' | 'answerAsks' | 'signIns'
> &
  Omit<Parameters<typeof createPresses>[0], 'now' | 'approvals' | 'confirmations'> &
  Parameters<typeof createMeetGroup>[0] &
  Parameters<typeof createHomePage>[0] &
  Readonly<{
    writeCommand: WriteCommand;
    approvals: Approvals;
    capabilities: Pick<Capabilities, 'signIns' | 'confirmations'>;
    store: Parameters<typeof createApproveByText>[0]['store'];
    /** `auto`, or the language that everybody is answered in. */
    language(): string;
  }>;

/** What channels hand their events to: messages, presses, and how strangers are met. */
export function createEventHandler(needs: Needs): OnEvent {
  const { signIns, confirmations } = needs.capabilities;
  const presses = createPresses({ ...needs, confirmations, now: needs.clock.now });
  const admit = createAdmit({
    ...needs,
    strangers: createStrangers(needs),
    meetGroup: createMeetGroup(needs),
    signIns,
    presses,
    suggestPrompts: createSuggestPrompts(needs),
    visits: createVisits({ presses, page: createHomePage(needs) }),
    answerAsks: createApproveByText({ ...needs, confirmations }),
  });
  return (event) => admit(inLanguage(event, needs.language()));
}

/** What the operator chose holds for everybody, whatever their clients say. */
function inLanguage(event: ChannelEvent, language: string): ChannelEvent {
  if (language === 'auto') return event;
  const heard = <Said extends Readonly<{ sender: Sender }>>(said: Said): Said => ({
    ...said,
    sender: { ...said.sender, language },
  });
  switch (event.type) {
    case 'message':
    case 'edited':
      return { ...event, message: heard(event.message) };
    case 'press':
      return { ...event, press: heard(event.press) };
    case 'home':
    case 'opened':
      return { ...event, visit: heard(event.visit) };
    case 'form':
      return { ...event, filled: heard(event.filled) };
    default:
      return event;
  }
}
