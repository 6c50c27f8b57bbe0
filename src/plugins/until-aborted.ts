/** What `work` gives; rejects with the signal's reason as soon as that is aborted, whatever `work` goes on to do. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // Nobody waits for it any more, so nobody else hears of its failure.
    work.catch(() => undefined);
  }
}
