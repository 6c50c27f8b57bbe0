/**
 * The way in. A channel turns each update of its platform into a `ChannelEvent`: a message, an edit, a press, a form, or
 * a change of a chat. It gets its sender's language and time zone here; then its type decides.
 * A message goes to `admit.ts`. What must not be logged, such as a sign-in's code, is taken out first. Then the rules of
 * `access/` decide who may talk: strangers get a pairing code at most, and talk among others is kept as background.
 * Answers to open questions and most commands are answered at once. Everything else is stored in the inbox, and only when
 * this function resolves does the channel acknowledge; if it rejects, the platform sends the update again (Q1).
 * There the queue takes over: `inbox-worker.ts` takes the message in its conversation's order, `handle-item.ts` answers it.
 * Presses, forms and pages do not wait in the queue. A press that starts a skill becomes a message and goes the same way.
 */
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import { createStrangers, type Pairing } from '../../access/pairing.ts';
import type { Users } from '../../access/users.ts';
import type { Approvals } from '../../approvals/approvals.ts';
import type { Capabilities } from '../../capabilities/create-capabilities.ts';
import type { Channel, ChannelEvent, OnEvent, WriteCommand } from '../../core/channel.ts';
import type { AnswerPress, PressEvent } from '../../core/feature.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message, Sender } from '../../core/message.ts';
import { createThrottle } from '../../lib/async/mutex.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Host } from '../../runs/work-deps.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import type { Store } from '../../store/store.ts';
import type { Commands } from '../commands.ts';
import type { JudgeMessage } from '../judge-message.ts';
import type { Overview } from '../overview.ts';
import { admit, type AdmitDeps } from './admit.ts';
import { answerByText, answerUnaddressed } from './approve-by-text.ts';
import { createMeetGroup, type Groups, type MeetGroup } from './groups.ts';
import { showHomePage, suggestPrompts, type HomeEvent, type OpenedEvent } from './home-page.ts';
import { press, type SayAs } from './presses.ts';
import { takeEdit } from './take-edit.ts';

type EditEvent = Extract<ChannelEvent, { type: 'edited' }>;

export type ReceiveDeps = AdmitDeps &
  Readonly<{
    host: Readonly<{ store: Pick<Store, 'stop' | 'keyed' | 'transcripts'>; migrations: ChatMigrations }>;
    people: Readonly<{
      users: Pick<Users, 'mayAct' | 'owners'>;
      groups: Pick<Groups, 'left'>;
      meetGroup: MeetGroup;
    }>;
    reading: Readonly<{ commands: Pick<Commands, 'resolve'> }>;
    asked: Readonly<{ settings: Pick<SettingsTalk, 'takeForm'> }>;
    pages: Readonly<{
      press(event: PressEvent, say: SayAs): Promise<void>;
      showHome(event: HomeEvent, say: SayAs): Promise<void>;
      suggestPrompts(event: OpenedEvent): Promise<void>;
    }>;
    replies: Pick<Replies, 'tellOwners'>;
  }>;

export async function receiveEvent(event: ChannelEvent, deps: ReceiveDeps): Promise<void> {
  switch (event.type) {
    case 'message':
      return admit(event, deps);
    case 'edited':
      return onEdited(event, deps);
    case 'deleted':
      return onDeleted(event.message, deps);
    case 'press':
      return deps.pages.press(event, (message) => {
        const { openThread } = event;
        return admit({ type: 'message', message, openThread }, deps);
      });
    case 'home':
      return deps.pages.showHome(event, (message) => admit({ type: 'message', message }, deps));
    case 'opened':
      return deps.pages.suggestPrompts(event);
    case 'form': {
      if (!(await deps.people.users.mayAct(event.filled)).allowed) return;
      const problems = await deps.asked.settings.takeForm(event.filled);
      if (problems !== undefined) event.refuse(problems);
      return;
    }
    case 'joined':
      return deps.people.meetGroup.joined(event);
    case 'left':
      return deps.people.groups.left(event.conversation);
    case 'notice':
      return onNotice(event, deps);
    case 'moved':
      return onMoved(event.from, event.to, deps);
  }
}

async function onEdited({ message: edited, at }: EditEvent, deps: ReceiveDeps): Promise<void> {
  const { signIns } = deps.asked;
  if (await signIns.takes(edited)) return;
  const message = await signIns.clean(edited);
  if (!(await deps.people.users.decide(message)).allowed) return;
  await takeEdit(message, at, {
    ...deps.host,
    resolve: deps.reading.commands.resolve,
    taken: (heard) => admit({ type: 'message', message: heard }, deps),
  });
}

/** Forgets a deleted message as background, and drops it if work on it has not started. */
async function onDeleted({ id, conversation }: Message, { host: { store } }: ReceiveDeps): Promise<void> {
  await store.overheard.remove(id);
  const waiting = await store.inbox.waitingIn(conversationKey(conversation));
  const untaken = waiting.some(({ key, takenAt }) => key === id && takenAt === undefined);
  if (untaken) await store.stop({ items: [id] });
}

async function onMoved(from: string, to: string, { host, replies }: ReceiveDeps): Promise<void> {
  if (!(await host.migrations.remember(from, to))) return;
  host.log.warn(
    { from, to },
    'a chat has a new id; its rules still hold, but config.toml should name the new one',
  );
  await replies.tellOwners(
    `moved:${to}`,
    (say) =>
      say`The chat ${inlineCode(from)} is now ${inlineCode(to)}. Its rules still hold; please put the new id into ${inlineCode('config.toml')}.`,
  );
}

async function onNotice(
  { key, markdown }: Extract<ChannelEvent, { type: 'notice' }>,
  { host: { store, clock }, people: { users }, replies }: ReceiveDeps,
): Promise<void> {
  const told = store.keyed('notices');
  if ((await users.owners()).length === 0 || (await told.has(key))) return;
  await replies.tellOwners(`notice:${key}:${clock.now()}`, markdown);
  await told.set(key, clock.now());
}

/** How often, in milliseconds, a refusal is written to the audit: once an hour for each person and reason. */
const refusalEveryMs = 3_600_000;
const fullEveryMs = 60_000;

export function createReceiveEvent(deps: {
  host: ReceiveDeps['host'] & Pick<Host, 'runtime' | 'store'>;
  people: Readonly<{
    users: Users;
    pairing: Pairing;
    groups: Groups;
  }>;
  reading: Readonly<{ commands: Commands; judge: JudgeMessage }>;
  approvals: Approvals;
  presses: ReadonlyMap<string, AnswerPress>;
  capabilities: Pick<Capabilities, 'signIns' | 'confirmations'>;
  shows: Readonly<{ overview: Overview; settings: SettingsTalk }>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
  }>;
}): OnEvent {
  const { host, people, approvals } = deps;
  const { users, pairing, groups } = people;
  const { channels, writeCommand, replies } = deps.chat;
  const { overview, settings } = deps.shows;
  const { store, runtime, clock } = host;
  const { signIns, confirmations } = deps.capabilities;
  const answerDeps = { approvals, confirmations, store, replies };
  const pressDeps = { host, people, presses: deps.presses, replies };
  const page = { users, pairing, overview, settings, runtime, store, writeCommand };
  const presses: ReceiveDeps['pages']['press'] = (event, say) => press(event, say, pressDeps);
  const receive: ReceiveDeps = {
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
      answerRequests: (message) => answerByText(message, answerDeps),
      answerUnaddressed: (message) => answerUnaddressed(message, answerDeps),
      settings,
    },
    pages: {
      press: presses,
      showHome: (event, say) => showHomePage(event, say, { press: presses, page }),
      suggestPrompts: (event) => suggestPrompts(event, { users, overview }),
    },
    replies,
    isDue: {
      refusal: createThrottle(refusalEveryMs, clock),
      full: createThrottle(fullEveryMs, clock),
    },
  };
  return async (event) => {
    const heard = inLanguage(event, runtime().config.bot.language);
    return receiveEvent(await inTheirZone(heard, users), receive);
  };
}

/** A language that the config sets overrides what clients report. */
function inLanguage(event: ChannelEvent, language: string): ChannelEvent {
  return language === 'auto' ? event : withSender(event, (sender) => ({ ...sender, language }));
}

/** Puts the time zone that a person chose in place of the platform's (U20). */
async function inTheirZone(event: ChannelEvent, users: Pick<Users, 'timezoneOf'>): Promise<ChannelEvent> {
  const sender = senderOf(event);
  const timezone = sender?.kind === 'person' ? await users.timezoneOf(sender.id) : undefined;
  return timezone === undefined ? event : withSender(event, (one) => ({ ...one, timezone }));
}

function senderOf(event: ChannelEvent): Sender | undefined {
  switch (event.type) {
    case 'message':
    case 'edited':
      return event.message.sender;
    case 'press':
      return event.press.sender;
    case 'home':
      return event.visit.sender;
    default:
      return undefined;
  }
}

function withSender(event: ChannelEvent, change: (sender: Sender) => Sender): ChannelEvent {
  const heard = <Said extends Readonly<{ sender: Sender }>>(said: Said): Said => ({
    ...said,
    sender: change(said.sender),
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
