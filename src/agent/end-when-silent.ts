import type { Clock } from '../core/clock.ts';

/** An answer whose body fails once nothing of it, not even a ping, has come for `ms`: its connection is dead. */
export function endWhenSilent(answer: Response, ms: number, clock: Clock): Response {
  if (answer.body === null) return answer;
  const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const over = new AbortController();
      const silence = clock.sleep(ms, over.signal).then(
        () => 'silence' as const,
        () => undefined,
      );
      try {
        const next = await Promise.race([reader.read(), silence]);
        if (next === 'silence') {
          const fault = new Error(`the stream was silent for ${ms / 1_000} s`);
          controller.error(fault);
          await reader.cancel(fault);
        } else if (next?.done === false) controller.enqueue(next.value);
        else controller.close();
      } finally {
        over.abort();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = answer;
  return new Response(body, { status, statusText, headers });
}
