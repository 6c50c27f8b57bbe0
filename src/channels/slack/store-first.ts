import type { App, Receiver, ReceiverEvent } from '@slack/bolt';

/**
 * A Bolt receiver that acknowledges an event once all listeners have resolved, which is when everything is stored (Q1).
 * Bolt's App acknowledges at once, so that answer is held back until then. If a listener rejects, nothing is sent, and
 * Slack delivers the event again. `stop` waits for the events that were received, while their connections are still
 * open.
 */
export function storeFirst(receiver: Receiver): Receiver {
  const running = new Set<Promise<void>>();
  const state = { stopping: false };

  async function process(app: App, event: ReceiverEvent): Promise<void> {
    const kept: { answer: Parameters<ReceiverEvent['ack']> } = { answer: [] };
    await app.processEvent({ ...event, ack: async (...answer) => void (kept.answer = answer) });
    await event.ack(...kept.answer);
  }

  return {
    init(app) {
      const storing: PropertyDescriptor = {
        async value(event: ReceiverEvent) {
          if (state.stopping) throw new Error('the Slack channel is stopping');
          const taken = process(app, event);
          running.add(taken);
          await taken.finally(() => running.delete(taken));
        },
      };
      receiver.init(Object.create(app, { processEvent: storing }) as App);
    },
    start: () => receiver.start(),
    async stop() {
      state.stopping = true;
      await Promise.allSettled(running);
      return receiver.stop();
    },
  };
}
