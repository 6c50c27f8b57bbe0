import { roomOf, taintAround, taintOf } from '../access/taint-of.ts';
import { joinTaint, type Entry, type Taint } from '../core/entry.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message, Quote } from '../core/message.ts';
import type { Store } from '../store/store.ts';

/** Letters and digits from which on a part of an answer is told from any other. */
const tellingPart = 40;

/**
 * What the bot's own words are marked with that a message brings along (S7). Of this chat: perhaps private before `/new`.
 * Of another: what the conversation is marked with where the requester was told them, and `true` if that is not found.
 */
export async function taintOfOwnWords(
  message: Message,
  {
    heard,
    before,
    transcript,
  }: Readonly<{ heard: readonly Message[]; before: readonly Entry[]; transcript: string }>,
  { transcripts }: Pick<Store, 'transcripts'>,
): Promise<Taint | undefined> {
  const shared = [message, ...heard].flatMap((each) => each.shared ?? []);
  const quotes = [...(message.replyTo === undefined ? [] : [message.replyTo]), ...shared];
  const relayed = quotes.filter((quote) => quote.relayed === true);
  const isHere = quotes.some(({ own }) => own) || heard.some(({ sender }) => sender.own === true);
  const here = isHere || relayed.length > 0 ? await taintOf(transcripts, roomOf(transcript)) : undefined;
  const elsewhere = relayed.filter((quote) => !isSaidIn(before, quote));
  if (elsewhere.length === 0) return here;
  const direct = await directWords(message, transcripts);
  return elsewhere
    .map((quote) => (isSaidIn(direct.entries, quote) ? direct.taint : true))
    .reduce(joinTaint, here);
}

/** What the bot told this person in their direct messages since the last `/new`, where these have the person's id. */
async function directWords(
  { sender, conversation }: Message,
  transcripts: Store['transcripts'],
): Promise<Readonly<{ entries: readonly Entry[]; taint: Taint | undefined }>> {
  const chat = sender.id.slice(sender.id.indexOf(':') + 1);
  const id = await transcripts.current(conversationKey({ channel: conversation.channel, chat }));
  const { entries } = await transcripts.read(id);
  return { entries: entries.map(({ entry }) => entry), taint: await taintAround(transcripts, id) };
}

function isSaidIn(entries: readonly Entry[], { text }: Quote): boolean {
  const words = bare(text);
  if (words === '') return false;
  return entries.some((entry) => {
    if (entry.kind !== 'assistant') return false;
    const said = bare(entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'));
    return said === words || (words.length >= tellingPart && said.includes(words));
  });
}

/** Without marks: a platform shows them, or not. */
function bare(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}
