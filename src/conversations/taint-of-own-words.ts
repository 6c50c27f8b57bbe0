import { roomOf, taintAround, taintOf } from '../access/taint-of.ts';
import { joinTaint, type Entry, type Taint } from '../core/entry.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message, Quote } from '../core/message.ts';
import type { Store } from '../store/store.ts';

/** A part of an answer counts as quoted from it if it has at least this many letters and digits. */
const tellingPart = 40;

/**
 * Returns the taint of the bot's own words that a message quotes or forwards (S7). Words from this chat carry the
 * chat's taint, because they may be private text from before `/new`. Words from elsewhere carry the taint of the
 * requester's direct messages if they were said there; otherwise the taint is `true`, which means unknown.
 */
export async function taintOfOwnWords(
  message: Message,
  {
    heard,
    before,
    transcript,
  }: Readonly<{ heard: readonly Message[]; before: readonly Entry[]; transcript: string }>,
  { transcripts }: Store,
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

/**
 * What the bot told this person in direct messages since the last `/new`. Empty on platforms where that chat's id is
 * not the person's id.
 */
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

/** Letters and digits alone, because platforms may or may not keep formatting marks. */
function bare(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}
