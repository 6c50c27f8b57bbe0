import { systemClock } from '../../src/lib/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { thumb } from './feedback-contract.ts';
import { makeMessage } from './make-message.ts';
import { makeRoutine } from './routines-contract.ts';

const room = { channel: 'telegram', chat: '42' } as const;
const ada = 'telegram:42';
const flow = {
  sender: ada,
  capability: 'notes.book',
  conversation: 'telegram/42',
  sealed: 'sealed flow',
  expiresAt: Date.UTC(2100, 0, 1),
} as const;

/** Puts something into every table that a store has, by what the bot itself calls. */
export async function fillStore(store: Store): Promise<void> {
  const now = Date.now();
  for (let n = 0; n < 200; n++)
    await store.inbox.accept(makeMessage({ id: `k${n}`, conversation: { ...room, chat: `${n % 7}` } }), {
      now,
    });
  await store.commit({
    entries: Array.from({ length: 100 }, (_, n) => ({
      transcript: 'telegram/42',
      entry: { kind: 'notice', text: `it's "said" ${n} \u{1f989}\n\\u0000`, at: n } as const,
    })),
    outbox: [{ key: 'k#0', conversation: room, part: { kind: 'text', text: 'waits' } as never }],
    usage: [
      {
        ...{ day: '2026-11-28', sender: ada, conversation: 'telegram/42', skill: '', model: 'm' },
        tokens: { input: 5_000_000_000, output: 2, cacheRead: 3, cacheWrite: 4 },
      },
    ],
    runs: [
      {
        ...{
          id: 'run',
          day: '2026-11-28',
          sender: ada,
          conversation: 'telegram/42',
          skill: 'dice',
          model: 'm',
        },
        ...{ steps: 3, failed: true, at: now },
      },
    ],
    searchable: Array.from({ length: 70 }, (_, n) => ({
      ...({
        holder: 'person telegram:42',
        transcript: 'telegram/42',
        conversation: room,
        asker: ada,
      } as const),
      ...{ author: ada, name: 'Ada', text: n === 3 ? 'The Crème brûlée was burnt' : `line ${n}`, at: n },
    })),
  });
  await store.transcripts.archive('telegram/42');
  for (const id of ['heard', 'removed']) await store.groupContext.add(makeMessage({ id }), now);
  await store.groupContext.remove('removed');
  await store.pendingRequests.add({
    ...({
      id: 'ask',
      kind: 'approval',
      conversation: room,
      requester: ada,
      transcript: 'telegram/42',
    } as const),
    ...{ toolUseId: 't', payload: { deep: [1, null] }, askedAt: now, expiresAt: now + 3_600_000 },
  });
  await store.outbox.show('shown', { messages: ['7'] } as never);
  await store.countUse('use', [{ key: 'runs', most: 5, ms: 3_600_000 }]);
  await store.keyed('people').set('paired:telegram:7', { sender: 'telegram:7', name: 'Gus', since: 1 });
  await store.keyed('brief').set('soon', 'gone by now', 1);
  await store.keyed('brief').set('later', 'still here', 3_600_000);
  await store.capabilities.claimKey('check');
  await store.capabilities.begin({ ...flow, id: 'F1' }, now);
  await store.capabilities.change('F1', 'pending', { state: 'linked', sealed: 'x' });
  await store.capabilities.link('F1', {
    ...{ sender: ada, capability: 'notes.book', name: 'hash', sealed: 'sealed account', linkedAt: now },
  });
  await store.capabilities.keepOutcome({ key: 'o', sender: ada, sealed: 'sealed outcome', at: now });
  await store.routines.add(makeRoutine('r', { dueAt: now + systemClock.now() }), 9);
  await store.feedback.give(thumb('f', now));
  await store.memories.add(
    {
      ...({
        id: 'm',
        text: 'likes owls',
        scope: 'person',
        author: ada,
        authorName: 'Ada',
        chat: ada,
      } as const),
      ...{ isPrivate: true, isApproved: false, at: 1 },
    },
    9,
  );
}
