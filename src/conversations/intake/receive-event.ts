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
import type { App } from '../../app.ts';
import { createMeetGroup } from '../../access/groups.ts';
import { createStrangers } from '../../access/pairing.ts';
import type { Users } from '../../access/users.ts';
import type { ChannelEvent, OnEvent } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message, Sender } from '../../core/message.ts';
import { createThrottle } from '../../lib/async/mutex.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Commands } from '../commands.ts';
import { createFirstWords } from '../first-words.ts';
import type { JudgeMessage } from '../judge-message.ts';
import type { Overview } from '../overview.ts';
import type { FeatureParts } from '../parts-of-features.ts';
import { admit, type AdmitDeps } from './admit.ts';
import { showHomePage, suggestPrompts, type PageDeps } from './home-page.ts';
import { press } from './presses.ts';
import { takeEdit } from './take-edit.ts';
import { takeStop } from './take-stop.ts';

type EditEvent = Extract<ChannelEvent, { type: 'edited' }>;
type FormEvent = Extract<ChannelEvent, { type: 'form' }>;

export type ReceiveDeps = AdmitDeps & PageDeps;

export async function receiveEvent(event: ChannelEvent, deps: ReceiveDeps): Promise<void> {
  switch (event.type) {
    case 'message':
      return admit(event, deps);
    case 'edited':
      return onEdited(event, deps);
    case 'deleted':
      return onDeleted(event.message, deps);
    case 'press':
      return press(
        event,
        (message, openThread) => admit({ type: 'message', message, openThread }, deps),
        deps,
      );
    case 'stop':
      return takeStop(event, deps);
    case 'home':
      return showHomePage(event, (message) => admit({ type: 'message', message }, deps), deps);
    case 'opened':
      return suggestPrompts(event, deps);
    case 'form':
      return onForm(event, deps);
    case 'joined':
      return deps.meetGroup.joined(event);
    case 'left':
      return deps.groups.left(event.conversation);
    case 'notice':
      return onNotice(event, deps);
    case 'moved':
      return onMoved(event.from, event.to, deps);
  }
}

async function onEdited({ message: edited, at }: EditEvent, deps: ReceiveDeps): Promise<void> {
  const message = await deps.features.withoutSecrets(edited);
  if (message === undefined || !(await deps.users.decide(message)).allowed) return;
  await takeEdit(message, at, {
    ...deps,
    resolve: deps.commands.resolve,
    taken: (heard) => admit({ type: 'message', message: heard }, deps),
  });
}

async function onForm({ filled, refuse }: FormEvent, { users, features }: ReceiveDeps): Promise<void> {
  if (!(await users.mayAct(filled)).allowed) return;
  for (const feature of features.all) {
    const problems = await feature.form?.(filled);
    if (problems !== undefined) return refuse(problems);
  }
}

/** Forgets a deleted message as background, and drops it if work on it has not started. */
async function onDeleted({ id, conversation }: Message, { store }: ReceiveDeps): Promise<void> {
  await store.groupContext.remove(id);
  const waiting = await store.inbox.waitingIn(conversationKey(conversation));
  const untaken = waiting.some(({ key, takenAt }) => key === id && takenAt === undefined);
  if (untaken) await store.stop({ items: [id] });
}

async function onMoved(from: string, to: string, { migrations, log, replies }: ReceiveDeps): Promise<void> {
  if (!(await migrations.remember(from, to))) return;
  log.warn(
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
  { store, clock, users, replies }: ReceiveDeps,
): Promise<void> {
  const told = store.keyed('notices');
  if ((await users.owners()).length === 0 || (await told.has(key))) return;
  await replies.tellOwners(`notice:${key}:${clock.now()}`, markdown);
  await told.set(key, clock.now());
}

/** How often, in milliseconds, a refusal is written to the audit: once an hour for each person and reason. */
const refusalEveryMs = 3_600_000;
const fullEveryMs = 60_000;

export function createReceiveEvent(
  app: App,
  features: FeatureParts,
  reading: Readonly<{ commands: Commands; judge: JudgeMessage; overview: Overview }>,
): OnEvent {
  const { runtime, users, clock } = app;
  const deps: ReceiveDeps = {
    ...app,
    ...reading,
    features,
    strangers: createStrangers(app),
    meetGroup: createMeetGroup(app),
    sayFirst: createFirstWords(app),
    isDue: {
      refusal: createThrottle(refusalEveryMs, clock),
      full: createThrottle(fullEveryMs, clock),
    },
  };
  return async (event) => {
    const heard = inLanguage(event, runtime().config.bot.language);
    return receiveEvent(await inTheirZone(heard, users), deps);
  };
}

/** A language that the config sets overrides what clients report. */
function inLanguage(event: ChannelEvent, language: string): ChannelEvent {
  return language === 'auto' ? event : withSender(event, (sender) => ({ ...sender, language }));
}

/** Puts the time zone that a person chose in place of the platform's (U20). */
async function inTheirZone(event: ChannelEvent, users: Users): Promise<ChannelEvent> {
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
    case 'stop':
      return event.stop.sender;
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
    case 'stop':
      return { ...event, stop: heard(event.stop) };
    case 'home':
    case 'opened':
      return { ...event, visit: heard(event.visit) };
    case 'form':
      return { ...event, filled: heard(event.filled) };
    default:
      return event;
  }
}
