import { wrapEvent, type Json } from './event-payloads.ts';
import { isTold } from './manifest.ts';
import { createWatch, type Watch } from './watch.ts';
import type { SlackRoom, Workspace } from './workspace.ts';

/** An event on its way to the app. */
export type Outbound = Readonly<{ room: SlackRoom | undefined; event: Json }>;

export type EnvelopeKind = 'events_api' | 'slash_commands' | 'interactive';

/** One try to hand something to the app. */
export type Attempt =
  | Readonly<{ ok: true; response: unknown }>
  | Readonly<{
      ok: false;
      reason: 'timeout' | 'no_connection' | 'http_error' | 'connection_failed';
      noRetry?: boolean;
    }>;

/** Socket Mode or HTTP. */
export type Transport = (
  kind: EnvelopeKind,
  payload: Json,
  retry: Readonly<{ num: number; reason: string }> | undefined,
) => Promise<Attempt>;

/** What became of one event: every try, and whether the app acknowledged it. */
export type Delivered = Readonly<{ payload: Json; attempts: readonly Attempt[]; acked: boolean }>;

/** How twins and duplicates come. */
export type DeliveryKnobs = {
  /** Which of message and app_mention goes first; `together` sends both at once. */
  twins: 'message-first' | 'mention-first' | 'together';
  /** Milliseconds between twins. */
  twinGapMs: number;
  /** Every event is delivered so many times more after it was acknowledged, as the same event. */
  duplicates: number;
  /** Milliseconds before each retry. Slack's are 0, one and five minutes. */
  retryDelaysMs: readonly number[];
  /**
   * Milliseconds the app has to acknowledge what is sent from now on. Slack's are 3,000; a minute by default, for a machine
   * may have much else to do, and what is late comes again.
   */
  ackTimeoutMs: number;
  /** While set, events pile up; `release` sends them, in the order that `reorder` gives. */
  held: boolean;
  /** Events under way at one time; what comes in between waits for its turn. */
  atOnce: number;
};

export type Delivery = Readonly<{
  /** Delivers events, each until it is acknowledged or given up. `twins` are kept in their order. */
  send(events: readonly Outbound[]): Promise<readonly Delivered[]>;
  /** One try, no retry: Slack drops slash calls and presses that nobody takes. */
  sendOnce(kind: 'slash_commands' | 'interactive', payload: Json): Promise<Attempt>;
  /** Ends `held`; `reorder` may shuffle what piled up. */
  release(reorder?: (waiting: readonly Outbound[]) => readonly Outbound[]): void;
  /** Whether the app is subscribed to this event. */
  tells(event: string): boolean;
  /** Every event that was acknowledged or given up. */
  delivered: Watch<Delivered>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}>;

export function createDelivery(
  workspace: Workspace,
  knobs: DeliveryKnobs,
  scopes: ReadonlySet<string>,
  subscribed: readonly string[],
  transport: Transport,
): Delivery {
  const delivered = createWatch<Delivered>();
  const running = new Set<Promise<unknown>>();
  const waiting: { event: Outbound; go: () => void }[] = [];

  const deliver = async (payload: Json): Promise<Delivered> => {
    const attempts: Attempt[] = [];
    for (let num = 0; num <= knobs.retryDelaysMs.length; num++) {
      const last = attempts.at(-1);
      if (num > 0) await later(knobs.retryDelaysMs[num - 1] ?? 0);
      const retry = last === undefined || last.ok ? undefined : { num, reason: reasonOf(last.reason) };
      const attempt = await transport('events_api', payload, retry);
      attempts.push(attempt);
      if (attempt.ok || attempt.noRetry) break;
    }
    for (let more = 0; more < knobs.duplicates; more++) {
      attempts.push(await transport('events_api', payload, { num: 1, reason: 'timeout' }));
    }
    const result = { payload, attempts, acked: attempts.some(({ ok }) => ok) };
    delivered.add(result);
    return result;
  };

  const turns: (() => void)[] = [];
  let underWay = 0;
  const inTurn = async (payload: Json): Promise<Delivered> => {
    if (underWay >= knobs.atOnce) await new Promise<void>((go) => void turns.push(go));
    underWay += 1;
    try {
      return await deliver(payload);
    } finally {
      underWay -= 1;
      turns.shift()?.();
    }
  };

  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const tracked: Promise<unknown> = work.finally(() => running.delete(tracked));
    running.add(tracked);
    return work;
  };

  const admit = (event: Outbound): Promise<void> =>
    knobs.held ? new Promise((go) => void waiting.push({ event, go })) : Promise.resolve();

  return {
    send(events) {
      const told = events.filter(({ event }) => isTold(event, scopes, subscribed));
      const work = told.map(async (event, index) => {
        await admit(event);
        if (index > 0 && knobs.twins !== 'together') await later(knobs.twinGapMs * index);
        return inTurn(wrapEvent(workspace, event.room, event.event));
      });
      return track(Promise.all(work));
    },
    sendOnce: (kind, payload) => track(transport(kind, payload, undefined)),
    release(reorder = (events) => events) {
      knobs.held = false;
      const all = waiting.splice(0);
      for (const event of reorder(all.map((item) => item.event))) {
        all.find((item) => item.event === event)?.go();
      }
    },
    tells: (event) => subscribed.includes(event),
    delivered,
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

function reasonOf(reason: string): string {
  return { timeout: 'http_timeout', http_error: 'http_error' }[reason] ?? 'connection_failed';
}

function later(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
