import { callsOf, doneCalls, finalText } from '../../agent/next-step.ts';
import { startedIn, taintOf } from '../../access/taint-of.ts';
import type { Channel } from '../../core/channel.ts';
import { taintIn, type Entry } from '../../core/entry.ts';
import type { NewTurn, Notes, TurnPart } from '../../core/feature.ts';
import type { Memory, MemoryUse, SearchableText } from '../../core/memory.ts';
import { isUnattended, type Message } from '../../core/message.ts';
import { sayOrigin } from '../../core/provenance.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import type { Requester, Tool } from '../../core/tool.ts';
import { escapeMarkdown } from '../../lib/markdown/write-markdown.ts';
import { oneLine } from '../../lib/text/text.ts';
import { memoryNotes } from './memory-notes.ts';
import { memoryTools, noteId } from './memory-tools.ts';
import { openMemory, type MemoryDeps, type OpenMemory } from './open-memory.ts';
import { wordsIn } from '../../access/own-words.ts';

export type MemoryOfTurns = Readonly<{
  /**
   * What memory adds to a turn. Undefined where memory is switched off for this chat (`/settings remember on false`,
   * K3).
   */
  turn(
    turn: Pick<NewTurn, 'message' | 'transcript'>,
  ): Promise<Required<Omit<TurnPart, 'rateable'>> | undefined>;
  /** The tools for a run, which are offered only if its skill names them (T5). */
  runTools(requester: Requester, transcript: string): Promise<readonly Tool[]>;
}>;

export type TurnMemoryDeps = MemoryDeps &
  Readonly<{
    channels: ReadonlyMap<string, Channel>;
    botName(): string;
  }>;

/** How many notes are read to fill 2,000 characters. */
const mostNotes = 60;
/** How many characters of an entry can be found later. */
const longestSaid = 4_000;
const shortText = 80;

export function createTurnMemory(deps: TurnMemoryDeps): MemoryOfTurns {
  const linkTo = ({ conversation, source }: SearchableText): string | undefined =>
    source === undefined
      ? undefined
      : deps.channels.get(conversation.channel)?.messageLink?.(conversation, source);
  return {
    async turn({ message, transcript }) {
      const open = await openMemory(message, deps);
      if (open === undefined) return undefined;
      const { platformId: source } = message;
      return {
        tools: memoryTools(open, { transcript, source, inRun: isUnattended(message.task), linkTo }, deps),
        notes: (before) => notesFor(open, before, deps),
        searchable: (entry, all) => saidIn(entry, all, { message, transcript, open }, deps),
        footer: async (turn) => ({
          text: await footerOf(
            turn,
            { transcript, use: open.use, say: sayIn(message.sender.language) },
            deps,
          ),
        }),
      };
    },
    async runTools({ sender: id, ...requester }, transcript) {
      const open = await openMemory({ ...requester, sender: { id } }, deps);
      return open === undefined ? [] : memoryTools(open, { transcript, inRun: true, linkTo }, deps);
    },
  };
}

async function notesFor(
  open: OpenMemory,
  before: readonly Entry[],
  { store, clock }: TurnMemoryDeps,
): Promise<Notes | undefined> {
  const memories: readonly Memory[] = await open.visible(mostNotes);
  if (memories.length > 0) await store.memories.seen(open.holders, clock.now());
  return memoryNotes(memories, before);
}

type Turn = Readonly<{ message: Message; transcript: string; open: OpenMemory }>;

async function saidIn(
  entry: Entry,
  all: readonly Entry[],
  { message, transcript, open: { holders, use } }: Turn,
  { store, botName }: TurnMemoryDeps,
): Promise<readonly SearchableText[]> {
  // In a group only the sender sees an ephemeral message.
  if (use.ephemeral || message.task !== undefined) return [];
  const [holder] = holders;
  const { conversation, sender } = message;
  const place = { holder, transcript, conversation, asker: sender.id, at: entry.at };
  if (entry.kind === 'user') {
    if (entry.sender !== sender.id || entry.about !== undefined || entry.taint !== undefined) return [];
    const text = wordsIn(entry).own.slice(0, longestSaid);
    // It may start a skill that others in the chat must not know of (A11).
    const isCall = message.command !== undefined && message.command.bare !== true;
    if (text === '' || (isCall && entry.item === message.id)) return [];
    const source = entry.item === message.id ? message.platformId : undefined;
    return [{ ...place, author: sender.id, name: sender.name, source, text }];
  }
  if (entry.kind !== 'assistant' || callsOf(entry).length > 0 || entry.stopReason === 'refusal') return [];
  const text = finalText([entry]).slice(0, longestSaid);
  if (text === '' || taintIn(all) !== undefined) return [];
  if ((await taintOf(store.transcripts, startedIn(transcript))) !== undefined) return [];
  return [{ ...place, name: botName(), text }];
}

async function footerOf(
  turn: readonly Entry[],
  { transcript, use, say }: Readonly<{ transcript: string; use: MemoryUse; say: Say }>,
  { store }: TurnMemoryDeps,
): Promise<string> {
  const lines: string[] = [];
  for (const { id, name, input } of doneCalls(turn)) {
    if (name === 'forget_memory') lines.push(say`Removed a note.`);
    if (name !== 'remember') continue;
    const { text, scope } = input as Readonly<{ text?: unknown; scope?: unknown }>;
    // Others read along in a group, so the note is not shown.
    const isHidden = scope === 'person' && use.chatType !== 'private' && !use.ephemeral;
    const memory = isHidden ? undefined : await store.memories.find(noteId(transcript, id));
    const origin = memory && sayOrigin(memory.from, say);
    const shown = typeof text === 'string' ? escapeMarkdown(oneLine(text, shortText)) : undefined;
    const from = origin === undefined ? [] : [say`From: ${origin}`];
    lines.push(
      isHidden || shown === undefined
        ? say`Noted for you alone.`
        : say`Noted: ${[shown, ...from].join(', ')}`,
    );
  }
  return lines.map((line) => `\n\n📝 ${line}`).join('');
}
