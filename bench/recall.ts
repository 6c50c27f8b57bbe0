import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SearchableText } from '../src/core/memory.ts';
import type { Tool } from '../src/core/tool.ts';
import { systemClock } from '../src/lib/clock.ts';
import { memoryTools } from '../src/features/memory/memory-tools.ts';
import { openMemory, type MemoryDeps } from '../src/features/memory/open-memory.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { parseConfig } from '../src/config/parse-config.ts';
import { partOf } from '../test/support/app-of.ts';
import { inAGroup, toolContext } from '../test/support/tool-context.ts';
import { unmovedChats } from '../test/support/unmoved-chats.ts';

const rounds = 200;
const batch = 500;
/** A tenth of all is in the chat that is searched. */
const chats = 91;
const words =
  'invoice ticket deploy release meeting budget weather garden kitchen ladder window mirror yellow orange purple silver'.split(
    ' ',
  );

/** Milliseconds of each call of `recall` in a group, with so many entries in the index, on SQLite in a file. */
export async function recallTimes(entries: number): Promise<readonly number[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-bench-recall-'));
  try {
    return await timesOn(`sqlite:${path.join(folder, 's.db')}`, entries);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same on a database of its own. */
export async function timesOn(
  url: string,
  entries: number,
  /** As the database does by itself in time. */
  analyze: () => Promise<unknown> = async () => undefined,
): Promise<readonly number[]> {
  const store = await openStore(url, { clock: systemClock });
  try {
    for (let first = 0; first < entries; first += batch)
      await store.commit({ searchable: Array.from({ length: batch }, (_, n) => lineOf(first + n)) });
    await analyze();
    const recall = await recallOn(store);
    const context = toolContext({ requester: inAGroup });
    const times: number[] = [];
    for (let round = -20; round < rounds; round++) {
      const query = [word(round + 20), word(3 * round + 60), `number${round + 20}`].join(' ');
      const began = performance.now();
      await recall.run({ query }, context);
      if (round >= 0) times.push(performance.now() - began);
    }
    return times;
  } finally {
    await store.close();
  }
}

async function recallOn(store: Store): Promise<Tool> {
  const parsed = parseConfig('', { env: {} });
  if (!parsed.ok) throw new Error('the empty config is wrong');
  const { config } = parsed;
  const { conversation, chatType, external, sender } = inAGroup;
  const chatIds = [`${conversation.channel}:${conversation.chat}`];
  const deps: MemoryDeps = {
    runtime: () => partOf({ config }),
    store,
    migrations: unmovedChats,
    accessOf: async () => ({ chatType, chatIds, external, sender, by: 'model' }),
    users: partOf({ isOwner: async () => false }),
    settings: { forCall: () => async () => ({}) },
    audit: { record: async () => undefined },
    clock: systemClock,
  };
  const open = await openMemory({ conversation, chatType, external, sender: { id: sender } }, deps);
  const turn = { transcript: 'bench', inRun: false, linkTo: () => undefined };
  const recall = open && memoryTools(open, turn, deps).find(({ name }) => name === 'recall');
  if (recall === undefined) throw new Error('memory is off');
  return recall;
}

function lineOf(index: number): SearchableText {
  const { channel, chat } = inAGroup.conversation;
  const room = index % 10 === 0 ? chat : `-${1 + (index % chats)}`;
  return {
    holder: `chat ${channel}:${room}`,
    transcript: `${channel}:${room}`,
    conversation: { channel, chat: room },
    asker: 'telegram:42',
    author: 'telegram:42',
    name: 'Ada',
    text: `${word(index)} ${word(index * 7 + 3)} number${index % 5_000} and some more words of a sentence as people write them`,
    at: index,
  };
}

function word(index: number): string {
  return words[Math.abs(index) % words.length] ?? '';
}
