import type { Clock } from '../../lib/clock.ts';

/** One for all answers: an error of its own would cost each of them its stack. */
const ended = new Error('the answer ended');

/** An answer whose body fails once nothing of it, not even a ping, has come for `ms`: its connection is dead. */
export function endWhenSilent(answer: Response, ms: number, clock: Clock): Response {
  if (answer.body === null) return answer;
  const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
  const over = new AbortController();
  let askedAt: number | undefined;

  async function untilSilent(): Promise<void> {
    for (let left = ms; left > 0; left = (askedAt ?? clock.now()) + ms - clock.now()) {
      await clock.sleep(left, over.signal);
    }
  }

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      void untilSilent().then(
        () => {
          const fault = new Error(`the stream was silent for ${ms / 1_000} s`);
          controller.error(fault);
          return reader.cancel(fault);
        },
        () => undefined,
      );
    },
    async pull(controller) {
      let more = false;
      askedAt = clock.now();
      try {
        const next = await reader.read();
        more = !next.done;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      } finally {
        askedAt = undefined;
        if (!more) over.abort(ended);
      }
    },
    cancel(reason) {
      over.abort(ended);
      return reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(body, { status, statusText, headers });
}
