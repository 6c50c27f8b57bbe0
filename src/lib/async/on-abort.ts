/** Calls `act` once when the signal aborts, or at once if it already has. Returns what takes it off again. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  const listen = (): void => act();
  signal.addEventListener('abort', listen, { once: true });
  return () => signal.removeEventListener('abort', listen);
}

/** Settles as `work`, or rejects with the signal's reason as soon as it aborts. The work continues unheard then. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const stopListening = onAbort(signal, () => aborted.reject(signal.reason as Error));
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    stopListening();
  }
}
