import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Press } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { ReplyOptions } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import { directMessage } from '../../replies/private-parts.ts';
import { partKey, toSenderAlone } from '../../replies/replies.ts';
import { outcomeKey, type PendingRequest } from '../../store/pending-requests.ts';
import { answerButtons, askForAnswer, describeCall, textOfJson } from './approval-question.ts';

/** What a group is not shown of a call, as it is stored with the question (U16). */
export const storedDetails = z.object({
  input: z.json(),
  because: z.string().optional(),
  others: z.string().optional(),
});

/** Keys of the message with the buttons, and of the last one that shows the input. */
type Shown = Readonly<{ buttons: string; last: string }>;

/** How long it is known who was shown a question, in milliseconds: longer than it can be answered. */
const keptMs = 3_600_000;

/** Details of calls that a group is asked about, for each person who may answer and wants to see them (U16). */
export type ApprovalDetails = Readonly<{
  /** Shows the question with its input and buttons to the person who pressed, and to nobody else. */
  show(request: PendingRequest, press: Press): Promise<void>;
  /** Whether this person was shown all that they are asked to approve. */
  wereShown(request: PendingRequest, person: string): Promise<boolean>;
  /** Outbox rows that replace what people were shown by the outcome. */
  outcomes(request: PendingRequest, outcome: string): Promise<Awaited<ReturnType<App['replies']['rows']>>>;
  forget(person: string): Promise<void>;
}>;

export function createApprovalDetails({
  store,
  replies,
  clock,
}: Readonly<{ store: App['store']; replies: App['replies']; clock: App['clock'] }>): ApprovalDetails {
  const shown = store.keyed('approval-details');
  const keyOf = ({ id }: PendingRequest, person: string): string => `${id} ${person}`;

  /** The message with the buttons that a person sees, and where it is. Undefined if they do not see one. */
  async function messageOf({ conversation }: PendingRequest, person: string, key: string) {
    const [alone, direct] = [await store.outbox.receipt(key), await store.outbox.receipt(`${key}!direct`)];
    if (direct !== undefined) return { receipt: direct, place: directMessage(person) };
    if (alone === undefined || elsewhere.includes(alone.id)) return undefined;
    return { receipt: alone, place: alone.onlyTo === undefined ? directMessage(person) : conversation };
  }

  return {
    async show(request, press) {
      const key = `ask:${request.id}!details:${press.id}`;
      const alone = toSenderAlone({ ...press, sentAt: press.at ?? clock.now() });
      const outbox = await rowsOf(request, key, press, alone, replies);
      const buttons = outbox.findLast(({ part }) => part.buttons !== undefined)?.key;
      await shown.set(keyOf(request, press.sender.id), { buttons, last: outbox.at(-1)?.key }, keptMs);
      await store.commit({ outbox });
    },
    async wereShown(request, person) {
      const known = await shown.get<Shown>(keyOf(request, person));
      return known != null && (await messageOf(request, person, known.last)) !== undefined;
    },
    async outcomes(request, outcome) {
      const rows = [];
      for await (const [kept, known] of shown.iterator() as AsyncIterable<readonly [string, Shown]>) {
        const person = kept.slice(request.id.length + 1);
        if (kept !== keyOf(request, person)) continue;
        const seen = await messageOf(request, person, known.buttons);
        if (seen === undefined) continue;
        const { receipt, place } = seen;
        const outcomeOf = `${outcomeKey(request.id)}:${person}`;
        await store.outbox.show(partKey(outcomeOf, 0), receipt);
        const { onlyTo } = receipt;
        const privately = { at: clock.now(), orNothing: true } as const;
        const how = onlyTo === undefined ? {} : { onlyTo, privately };
        rows.push(...(await replies.rows(place, outcomeOf, outcome, how)));
      }
      return rows;
    },
    async forget(person) {
      for await (const [kept] of shown.iterator()) {
        if (String(kept).endsWith(` ${person}`)) await shown.delete(String(kept));
      }
    },
  };
}

/** Receipts of parts for one person that were not shown where they belong. */
const elsewhere: readonly string[] = ['elsewhere', 'nowhere'];

/** What does not fit into one message goes to the direct message, where a file can follow. */
async function rowsOf(
  request: PendingRequest,
  key: string,
  { sender }: Press,
  alone: ReplyOptions,
  replies: App['replies'],
) {
  const { id, payload, conversation } = request;
  const say = sayIn(sender.language);
  const { input, because, others } = storedDetails.parse(payload['details']);
  const whole = describeCall(textOfJson(payload['tool']), input, skillOf(request), say);
  const canStand = payload['standing'] !== undefined;
  const more = [because, others, askForAnswer(id, canStand, say)].filter((one) => one !== undefined);
  const text = [whole, ...more].join('\n\n');
  const options = { ...alone, buttons: answerButtons(id, canStand, say) };
  const rows = await replies.rows(conversation, key, text, options);
  if (rows.length === 1) return rows;
  const direct = inDirect(options, { conversation: directMessage(sender.id), tell: key });
  const long = await replies.whole(conversation, key, text, direct, sender.language);
  const isWhole = long.length === rows.length || long.at(-1)?.part.file !== undefined;
  // Nobody approves what was cut.
  return isWhole ? long : replies.rows(conversation, key, text, direct);
}

function inDirect(
  { privately, ...options }: ReplyOptions,
  direct: Readonly<{ conversation: Conversation; tell: string }>,
): ReplyOptions {
  if (privately === undefined) return options;
  const { at, reply = { kind: 'press', id: direct.tell, at } } = privately;
  return { ...options, privately: { ...privately, reply: { ...reply, direct: reply.direct ?? direct } } };
}

function skillOf({ payload }: PendingRequest): string | undefined {
  return payload['skill'] === undefined ? undefined : textOfJson(payload['skill']);
}
