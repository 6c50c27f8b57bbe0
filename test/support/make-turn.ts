import { takeTurn, type Turn, type TakeTurnDeps } from '../../src/conversations/turn.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { nothingReceived } from '../../src/core/received.ts';
import { createQuestions } from '../../src/runs/questions.ts';
import type { Store } from '../../src/store/store.ts';
import { partOf } from './app-of.ts';
import { quietLog } from './quiet-log.ts';

/** Turns over a store, in UTC, without files and audit; `earlier` is what was said before the bot came. */
export function makeTurn({
  store,
  clock,
  earlier = () => [],
  background = 20,
  ...deps
}: Partial<Omit<TakeTurnDeps, 'store'>> &
  Readonly<{
    store: Store;
    clock: TakeTurnDeps['clock'];
    earlier?: () => readonly Message[];
    background?: number;
  }>): Turn {
  const all: TakeTurnDeps = {
    receive: async () => nothingReceived,
    zone: () => 'UTC',
    questions: createQuestions({ store, clock }),
    audit: { record: async () => undefined },
    log: quietLog(),
    heard: {
      channels: new Map([['telegram', partOf<Channel>({ readEarlier: async () => earlier() })]]),
      users: partOf({ mayAct: async () => ({ allowed: true }) }),
      most: () => background,
    },
    ...deps,
    store,
    clock,
  };
  return (request, context) => takeTurn(request, context, all);
}
