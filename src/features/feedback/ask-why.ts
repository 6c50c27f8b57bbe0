import type { App } from '../../app.ts';
import type { Filled } from '../../core/channel.ts';
import type { PressEvent, Pressed } from '../../core/feature.ts';
import type { Form } from '../../core/form.ts';
import type { Message } from '../../core/message.ts';
import { thumbWord } from '../../core/rating.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import { toSenderAlone } from '../../replies/replies.ts';
import type { OutboxRow } from '../../store/outbox.ts';

/** The word of the button that opens the form for a reason. */
export const whyWord = 'why';

const fieldKey = 'reason';
const longestReason = 2_000;
/** How long a person can answer the question, in milliseconds. */
const askedMs = 7 * 86_400_000;
/** The same where nothing tells which message is replied to. */
const aloneMs = 3_600_000;
/** How many answers are remembered for which a person was asked. */
const mostRemembered = 200;

/** What a person was asked: `open` is the id of the newest feedback, asked about `at`; `asked` are all. */
type Asked = Readonly<{ open: string; asked: readonly string[]; at: number }>;

const byReply = fixed`What was wrong? Reply to this message to say it. My operator can read that and, if you had asked, your question and my answer.`;
const byButton = fixed`What was wrong? My operator can read what you say and, if you had asked, your question and my answer.`;
const thanks = fixed`Thank you. I keep that with your 👎.`;

/** Asks people what was wrong with an answer, once for each thumb down, and never in front of others (U16, U17). */
export type AskWhy = Readonly<{
  /** Asks by a form if the press can open one, else by a message that only this person sees. */
  ask(event: PressEvent, id: string, answer: OutboxRow): Promise<void>;
  /** Opens the form for the button in that message. */
  open(event: PressEvent, id: string): Promise<Pressed>;
  /** Takes the form with a reason, once it is filled. */
  takeForm(filled: Filled): Promise<void>;
  /** Takes a message that replies to the question. False for other messages. */
  takeReply(message: Message): Promise<boolean>;
}>;

export function createAskWhy(app: App): AskWhy {
  const { store, replies, channels } = app;
  const asked = createAskedPeople(app);
  return {
    async ask(event, id, { conversation }) {
      const { press } = event;
      if (!(await asked.isFirst(press.sender.id, id)) || (await openForm(event, id, app))) return;
      const say = sayIn(press.sender.language);
      const hasForms = channels.get(conversation.channel)?.hasForms === true;
      const buttons = hasForms ? [{ label: say`Say it`, action: `${thumbWord}:${whyWord}:${id}` }] : [];
      const { onlyTo, privately } = toSenderAlone({ ...press, sentAt: press.at ?? 0 });
      const outbox = await replies.rows(conversation, `${id}!why`, say(hasForms ? byButton : byReply), {
        buttons,
        replyTo: press.chatType === 'private' ? press.receipt?.id : undefined,
        onlyTo,
        privately: privately && { ...privately, orNothing: true },
      });
      await store.commit({ outbox });
    },
    async open(event, id) {
      const { sender } = event.press;
      const feedback = await store.feedback.find(id);
      const isTheirs = feedback?.sender === sender.id && feedback.thumb === 'down';
      if (isTheirs && (await openForm(event, id, app))) return undefined;
      return { told: sayIn(sender.language)`There is nothing to say any more.` };
    },
    async takeForm({ action, sender, values }) {
      const [word, what, id = ''] = action.split(':');
      const reason = values[fieldKey];
      if (word === thumbWord && what === whyWord && typeof reason === 'string')
        await explain(id, sender.id, reason, app);
    },
    async takeReply(message) {
      const { sender, replyTo, ephemeral, command, text } = message;
      const say = sayIn(sender.language);
      const isReply = replyTo?.own === true && replyTo.text.includes(say(byReply));
      // What only the bot hears in a group is a command or a reply to what only this person sees.
      const isAlone = ephemeral === true && command === undefined && replyTo === undefined;
      if (!isReply && !isAlone) return false;
      const id = await asked.newest(sender.id, isReply ? askedMs : aloneMs);
      if (id === undefined || !(await explain(id, sender.id, text, app))) return false;
      await replies.answer(message, say(thanks));
      return true;
    },
  };
}

/** Who was asked about which of their thumbs, so that nobody is asked twice. */
function createAskedPeople({ store, clock }: App) {
  const kept = store.keyed('feedback-asked');
  return {
    async isFirst(sender: string, id: string): Promise<boolean> {
      const { asked = [] } = (await kept.get<Asked>(sender)) ?? {};
      if (asked.includes(id)) return false;
      const all = [...asked, id].slice(-mostRemembered);
      await kept.set(sender, { open: id, asked: all, at: clock.now() }, askedMs);
      return true;
    },
    /** The thumb that this person was asked about last, within so many milliseconds. */
    async newest(sender: string, withinMs: number): Promise<string | undefined> {
      const { open, at = 0 } = (await kept.get<Asked>(sender)) ?? {};
      return clock.now() - at <= withinMs ? open : undefined;
    },
  };
}

/** Opens the form for a reason, if the press allows it. Returns whether it is open. */
async function openForm({ press, openForm: open }: PressEvent, id: string, { log }: App): Promise<boolean> {
  if (open === undefined) return false;
  try {
    await open(reasonForm(id, press.conversation, sayIn(press.sender.language)));
    return true;
  } catch (error) {
    log.info({ err: error, feedback: id }, 'the form for a reason could not be opened');
    return false;
  }
}

/** Adds a reason to this person's thumb down. False if there is none any more, or if it is somebody else's. */
async function explain(id: string, sender: string, text: string, { store }: App): Promise<boolean> {
  const reason = text.trim().slice(0, longestReason);
  const feedback = reason === '' ? undefined : await store.feedback.find(id);
  return feedback?.sender === sender && store.feedback.explain(id, reason);
}

function reasonForm(id: string, conversation: Form['conversation'], say: Say): Form {
  const title = say`What was wrong?`;
  return {
    title,
    text: say`Your 👎 counts, also if you close this. My operator can read what you say and, if you had asked, your question and my answer.`,
    action: `${thumbWord}:${whyWord}:${id}`,
    conversation,
    words: { save: say`Send`, cancel: say`Cancel`, on: say`On`, off: say`Off` },
    fields: [
      {
        field: {
          ...{ key: fieldKey, kind: 'text', title, required: false },
          ...{ max: longestReason, options: [], secret: false },
        },
        hint: say`What should the answer have said?`,
      },
    ],
  };
}
