import type { Users } from '../../access/users.ts';
import type { SkillAuthoring } from '../../authoring/skill-authoring.ts';
import type { Channel, ChannelEvent, OnEvent, WriteCommand } from '../../core/channel.ts';
import type { Sender } from '../../core/message.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Host } from '../../runs/work-deps.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import type { Overview } from '../overview.ts';
import { createAdmit, type IntakeDeps } from './admit.ts';
import { createApproveByText } from './approve-by-text.ts';
import type { Approvals } from '../../approvals/approvals.ts';
import type { Capabilities } from '../../capabilities/create-capabilities.ts';
import { createMeetGroup, type Groups } from './groups.ts';
import { createPresses } from './presses.ts';
import { createStrangers, type Pairing, type PairingRequest } from '../../access/pairing.ts';
import { createHomePage } from './home-page.ts';
import { createSuggestPrompts, createVisits } from './visits.ts';

export function createEventHandler(deps: {
  host: IntakeDeps['host'] & Pick<Host, 'runtime' | 'store'>;
  people: Readonly<{
    users: Users;
    pairing: Pairing;
    groups: Groups;
    welcome(request: PairingRequest): Promise<void>;
  }>;
  reading: IntakeDeps['reading'];
  authoring: Pick<SkillAuthoring, 'approvals' | 'mayApprove'>;
  approvals: Approvals;
  capabilities: Pick<Capabilities, 'signIns' | 'confirmations'>;
  shows: Readonly<{ overview: Overview; settings: SettingsTalk }>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
  }>;
}): OnEvent {
  const { host, people, authoring, approvals } = deps;
  const { users, pairing, groups } = people;
  const { channels, writeCommand, replies } = deps.chat;
  const { overview, settings } = deps.shows;
  const { store, runtime, clock } = host;
  const { signIns, confirmations } = deps.capabilities;
  const presses = createPresses({ host, people, authoring, approvals, confirmations, settings, replies });
  const page = createHomePage({ runtime, users, pairing, overview, settings, store, writeCommand });
  const admit = createAdmit({
    host,
    people: {
      users,
      groups,
      strangers: createStrangers({ pairing, replies, writeCommand }),
      meetGroup: createMeetGroup({ groups, users, channels, replies, clock }),
    },
    reading: deps.reading,
    asked: {
      signIns,
      answerAsks: createApproveByText({ approvals, confirmations, store, replies }),
      settings,
    },
    presses,
    visits: createVisits({ presses, page }),
    suggestPrompts: createSuggestPrompts({ users, overview }),
    replies,
  });
  return (event) => admit(inLanguage(event, runtime().config.bot.language));
}

/** The operator's choice holds whatever people's clients say. */
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
