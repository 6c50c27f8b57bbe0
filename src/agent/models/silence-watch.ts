import type { Clock } from '../../lib/clock.ts';

/** The model's server sent nothing, not even a header. */
export class SilentServer extends Error {
  override readonly name = 'SilentServer';
}

/** Asks, and fails if the head of the answer takes longer than `ms` milliseconds. */
export async function withinSilence(
  ms: number,
  clock: Clock,
  ask: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const late = new AbortController();
  const over = new AbortController();
  clock.sleep(ms, over.signal).then(
    () => late.abort(new SilentServer(`the server was silent for ${ms / 1_000} s`)),
    () => undefined,
  );
  try {
    return await ask(late.signal);
  } finally {
    over.abort();
  }
}

type Open = { askedAt?: number | undefined; fail(): void };

/**
 * Makes answers fail if `ms` milliseconds pass without even a ping. One timer serves all of them, because most end long
 * before.
 */
export function createSilenceWatch(ms: number, clock: Clock): (answer: Response) => Response {
  const open = new Set<Open>();
  let isWatching = false;

  async function watch(): Promise<void> {
    isWatching = true;
    for (let left = ms; open.size > 0;) {
      await clock.sleep(left);
      left = ms;
      for (const { askedAt = clock.now(), fail } of open) {
        const rest = askedAt + ms - clock.now();
        if (rest > 0) left = Math.min(left, rest);
        else fail();
      }
    }
    isWatching = false;
  }

  function add(one: Open): void {
    open.add(one);
    if (!isWatching) void watch();
  }

  return (answer) => {
    if (answer.body === null) return answer;
    const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
    const one: Open = { fail: () => undefined };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        one.fail = () => {
          open.delete(one);
          const fault = new Error(`the stream was silent for ${ms / 1_000} s`);
          controller.error(fault);
          reader.cancel(fault).catch(() => undefined);
        };
        add(one);
      },
      async pull(controller) {
        one.askedAt = clock.now();
        let more = false;
        try {
          const next = await reader.read();
          more = !next.done;
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        } finally {
          one.askedAt = undefined;
          if (!more) open.delete(one);
        }
      },
      cancel(reason) {
        open.delete(one);
        return reader.cancel(reason);
      },
    });
    const { status, statusText, headers } = answer;
    return new Response(body, { status, statusText, headers });
  };
}
