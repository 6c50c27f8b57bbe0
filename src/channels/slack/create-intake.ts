import { sayIn, type Say } from '../../core/texts/say.ts';
import type { OnEvent, Press, ShownCall, StopPress, Visit, Filled, Home } from '../../core/channel.ts';
import type { Form, OpenForm } from '../../core/form.ts';
import { createInOrder } from '../../lib/async/in-order.ts';
import type { Clock } from '../../lib/clock.ts';
import { conversationKey, type ChatKind, type Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Message, Sender } from '../../core/message.ts';
import type { ChatLookup, NameLookup } from './look-up.ts';
import type { Presser, ThreadOpening } from './open-thread.ts';
import { userOf, type SlackDeps, type SlackIdentity, type SlackSettings } from './slack-options.ts';
import { toFilled } from './form-view.ts';
import { toHomeVisit, type HomeVisit } from './home-tab.ts';
import type { AgentView } from './create-agent-view.ts';
import {
  fromSlackPress,
  fromSlackReaction,
  fromSlackSaid,
  toSlash,
  fromSlackStanding,
  fromSlackStop,
  type Convert,
  type Followed,
  type WithPeople,
  type Slash,
} from './to-event.ts';
import { createMissedMessages, missedMessages } from './missed-messages.ts';
import { createOnceGuard } from './once-guard.ts';

/** What a person did, of which Slack tells once. */
type Done = Readonly<{ press: Press } | { stop: StopPress } | { message: Message }>;

type Reply = Readonly<{ response_type: 'ephemeral'; text: string }>;

type FormErrors = Readonly<{ response_action: 'errors'; errors: Readonly<Record<string, string>> }>;

/**
 * Receives payloads from Slack. Each method resolves once what it received is stored, and rejects if Slack has to send
 * the payload again (Q1).
 */
export type Intake = Readonly<{
  /** Somebody said, edited or deleted something: the events `message` and `app_mention`. */
  said(payload: unknown): Promise<void>;
  /** The bot was added to a channel or removed from it. */
  joinedOrLeft(payload: unknown): Promise<void>;
  /** Somebody opened the Home tab or the Messages tab. */
  visited(payload: unknown): Promise<void>;
  pressed(payload: unknown): Promise<void>;
  /** Somebody pressed Slack's own stop button of a thread. */
  stopped(payload: unknown): Promise<void>;
  /** Somebody reacted to a message, or took a reaction back. */
  reacted(payload: unknown): Promise<void>;
  /** Somebody typed a slash command. Only they see what it returns. */
  called(payload: unknown): Promise<Reply | undefined>;
  /** Somebody sent a form. It returns what is wrong in its fields. */
  filled(payload: unknown): Promise<FormErrors | undefined>;
}>;

type IntakeOptions = Readonly<{
  me: SlackIdentity;
  chats: ChatLookup;
  names: NameLookup;
  onEvent: OnEvent;
  threads: Pick<SlackDeps, 'partners' | 'hasAnswered' | 'isAtWork'> & Pick<SlackSettings, 'threadFollow'>;
  actions: IntakeActions;
  log: Log;
  clock: Clock;
}>;

type IntakeActions = Readonly<{
  openThread(call: ThreadOpening, shown: ShownCall): Promise<Conversation>;
  react?(message: Message): void;
  tell(press: Presser, words: string): Promise<void>;
  openForm(form: Form, trigger: string): Promise<void>;
  agent?: AgentView;
  /** Shows the Home tab. With `hash` it does so only if the tab still shows that version. */
  showHome(of: Visit, home: Home, hash?: string): void;
}>;

/** Completes events and passes them on, in order within each conversation. */
export function createIntake(options: IntakeOptions): Intake {
  const { me, onEvent, chats, names, threads, actions, log, clock } = options;
  const { partners } = threads;
  const inOrder = createInOrder();
  const isNew = createOnceGuard(clock);
  const missesMessages = createMissedMessages();

  const completed = <Seen extends ChatKind & Readonly<{ sender: Sender }>>(
    seen: Seen,
    facts: ChatKind | undefined,
  ): Seen => {
    const sender = { ...seen.sender, ...names.clientOf(userOf(seen.sender.id)) };
    if (facts === undefined) return { ...seen, sender };
    return { ...seen, sender, chatType: facts.chatType, external: seen.external || facts.external };
  };

  const lookedUp = async <Seen extends Visit | Press | StopPress | Filled>(seen: Seen): Promise<Seen> =>
    completed(seen, await chats.lookUp(seen.conversation.chat));

  const isAddressed = async (message: Message, followable: boolean): Promise<boolean> => {
    if (message.addressed || !followable) return message.addressed;
    const bang = message.command !== undefined && message.text.startsWith('!');
    // `!stop` has to reach the bot before its first answer.
    if (bang && (await threads.isAtWork(message.conversation))) return true;
    if (bang) return threads.hasAnswered(message.conversation);
    return threads.threadFollow && (await partners.get(message.conversation)) === message.sender.id;
  };

  /** Notes who speaks with the bot in a thread, because the next words may be meant for somebody else (H11). */
  const notePartner = async ({ conversation, chatType, sender, addressed }: Message): Promise<void> => {
    if (chatType === 'private' || sender.kind === 'bot') return;
    if (addressed) return partners.set(conversation, sender.id);
    const partner = await partners.get(conversation);
    if (partner !== undefined && partner !== sender.id) await partners.set(conversation, undefined);
  };

  const takeMessage = async (event: Followed, followable: boolean): Promise<void> => {
    const { chat } = event.message.conversation;
    chats.note(chat, event.message);
    const message = {
      ...completed(event.message, event.message.chatType === 'unknown' ? chats.known(chat) : undefined),
      addressed: await isAddressed(event.message, followable),
    };
    const stored = (): void => actions.react?.(message);
    if (event.type === 'message') await notePartner(message);
    await onEvent(event.type === 'message' ? { ...event, message, stored } : { ...event, message });
  };

  const formsBy = (trigger?: string): Readonly<{ openForm?: OpenForm }> =>
    trigger === undefined ? {} : { openForm: (form) => actions.openForm(form, trigger) };

  const languageOf = async ({ id }: Sender): Promise<string | undefined> => {
    await names.of([userOf(id)]);
    return names.clientOf(userOf(id)).language;
  };

  const takeSlash = async (bare: Message, trigger: string): Promise<Reply | undefined> => {
    const facts = await chats.lookUp(bare.conversation.chat);
    if (facts.absent) return invitation(me.user, sayIn(await languageOf(bare.sender)));
    if (facts.chatType === 'private')
      return void (await onEvent({ type: 'message', message: completed(bare, facts), ...formsBy(trigger) }));
    const message: Message = { ...completed(bare, facts), ephemeral: true };
    return withThread(message, (openThread) =>
      onEvent({ type: 'message', message, openThread, ...formsBy(trigger) }),
    );
  };

  /** Handles a slash command with a thread for its answer. Slack does not send such a call again. */
  const withThread = async (
    call: ThreadOpening,
    handOn: (openThread: (shown: ShownCall, group?: Conversation) => Promise<Conversation>) => Promise<void>,
  ): Promise<Reply | undefined> => {
    const failed: { with?: SendError } = {};
    const openThread = async (shown: ShownCall, group = call.conversation): Promise<Conversation> => {
      try {
        const thread = await actions.openThread({ ...call, conversation: group }, shown);
        await partners.set(thread, call.sender.id);
        return thread;
      } catch (error) {
        if (error instanceof SendError && error.outcome !== 'unknown') failed.with = error;
        throw error;
      }
    };
    try {
      await handOn(openThread);
      return undefined;
    } catch (error) {
      if (failed.with === undefined) throw error;
      log.warn({ err: failed.with, call: call.id }, 'a call could not be answered in its channel');
      return { response_type: 'ephemeral', text: notPosted(failed.with, sayIn(call.sender.language)) };
    }
  };

  const takeForm = async (filled: Filled): Promise<FormErrors | undefined> => {
    const found: { errors?: FormErrors['errors'] } = {};
    const refuse = (errors: FormErrors['errors']): void => void (found.errors = errors);
    await onEvent({ type: 'form', filled: await lookedUp(filled), refuse });
    return found.errors && { response_action: 'errors', errors: found.errors };
  };

  const tellTo =
    (press: Presser) =>
    (words: string): void => {
      actions.tell(press, words).catch((error: unknown) => {
        log.warn({ err: error, press: press.id }, 'who pressed a button could not be told what came of it');
      });
    };

  const takePress = async (press: Press, trigger: string | undefined): Promise<void> => {
    const seen = await lookedUp(press);
    const event = { type: 'press', press: seen, tell: tellTo(press), ...formsBy(trigger) } as const;
    if (press.ephemeral !== true && seen.chatType !== 'private') return onEvent(event);
    await withThread(press, (openThread) => onEvent({ ...event, openThread }));
  };

  /** A person who does something where Slack does not name their team is a guest in a shared channel (A9). */
  const asGuest = <Seen extends Visit | Press>(seen: Seen): Seen =>
    seen.external ? { ...seen, sender: { ...seen.sender, kind: 'guest' } } : seen;

  const takeVisit = async (payload: unknown, bare: HomeVisit): Promise<void> => {
    const known = await names.of([userOf(bare.visit.sender.id)]);
    const { visit: named, tab, hash, trigger } = toHomeVisit(payload, me, known) ?? bare;
    const visit = asGuest(await lookedUp(named));
    const { agent } = actions;
    if (tab === 'messages')
      return onEvent({ type: 'opened', visit, suggest: (prompts) => agent?.suggest(visit, prompts) });
    const showHome = (home: Home): void => actions.showHome(visit, home, hash);
    await onEvent({ type: 'home', visit, showHome, ...formsBy(trigger) });
  };

  const read = <What>(payload: unknown, convert: Convert<What>): WithPeople<What> | undefined => {
    const heard = convert(payload, me);
    if ('people' in heard) return heard;
    log.debug({ reason: heard.ignored }, 'Slack payload ignored');
    return undefined;
  };

  const withNames = async <What>(
    payload: unknown,
    bare: WithPeople<What>,
    convert: Convert<What>,
  ): Promise<WithPeople<What>> => {
    const found = await names.of(bare.people);
    const named = found.size === 0 ? bare : convert(payload, me, found);
    return 'people' in named ? named : bare;
  };

  const takeOnce = async <What extends Done, Result>(
    payload: unknown,
    convert: Convert<What>,
    take: (what: What) => Promise<Result>,
  ): Promise<Result | undefined> => {
    const bare = read(payload, convert);
    if (bare === undefined) return undefined;
    const { id } = 'press' in bare ? bare.press : 'stop' in bare ? bare.stop : bare.message;
    return isNew(id, async () => take(await withNames(payload, bare, convert)));
  };

  return {
    async said(payload) {
      if (missesMessages(payload)) await onEvent(missedMessages);
      const bare = read(payload, fromSlackSaid);
      if (bare === undefined) return;
      // Asked before the event's turn, so that waiting events are looked up together.
      const named = withNames(payload, bare, fromSlackSaid);
      await inOrder(conversationKey(bare.event.message.conversation), async () => {
        const { event, followable } = await named;
        await takeMessage(event, followable);
      });
    },
    async joinedOrLeft(payload) {
      const standing = fromSlackStanding(payload, me);
      if (standing === undefined) return;
      const known = await names.of(standing.people);
      await onEvent(fromSlackStanding(payload, me, known)?.event ?? standing.event);
    },
    async visited(payload) {
      const visited = toHomeVisit(payload, me);
      if (visited !== undefined) await takeVisit(payload, visited);
    },
    async pressed(payload) {
      const visited = toHomeVisit(payload, me);
      if (visited !== undefined) return isNew(visited.visit.id, () => takeVisit(payload, visited));
      await takeOnce(payload, fromSlackPress, ({ press, trigger }) => takePress(press, trigger));
    },
    async stopped(payload) {
      await takeOnce(payload, fromSlackStop, async ({ stop }) => {
        await onEvent({ type: 'stop', stop: await lookedUp(stop), tell: tellTo(stop) });
      });
    },
    async reacted(payload) {
      await takeOnce(payload, fromSlackReaction, async ({ press }) => {
        await onEvent({ type: 'press', press: asGuest(await lookedUp(press)) });
      });
    },
    async called(payload) {
      const now = clock.now();
      const convert: Convert<Slash> = (of, bot, known) => toSlash(of, bot, now, known);
      return takeOnce(payload, convert, ({ message, trigger }) => takeSlash(message, trigger));
    },
    async filled(payload) {
      const form = toFilled(payload, me);
      return form && isNew(form.id, () => takeForm(form));
    },
  };
}

function invitation(botUser: string, say: Say): Reply {
  const text = say`I’m not in this conversation. Invite me with ${`\`/invite <@${botUser}>\``} or write to me directly, then try again.`;
  return { response_type: 'ephemeral', text };
}

function notPosted({ outcome }: SendError, say: Say): string {
  return outcome === 'retry'
    ? say`I can’t post here right now. Please try again in a minute, or write to me directly.`
    : say`I can’t post in this channel. Please write to me directly.`;
}
