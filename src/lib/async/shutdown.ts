/**
 * Milliseconds that a stop may take in addition to `[bot] shutdown_seconds`: for work that was aborted and for sends.
 * What is left then is cut off as by a kill (Q7). With the default, a stop takes less than the 10 s of `docker stop`.
 */
export const stopMarginMs = 4_500;

/** The reason with which work is aborted at a stop. It continues at the next start (Q7). */
export function shutdownReason(): DOMException {
  return new DOMException('shutting down', 'ShutdownError');
}

export function isShuttingDown(signal: AbortSignal): boolean {
  return signal.aborted && isShutdown(signal.reason);
}

export function isShutdown(error: unknown): error is DOMException {
  return error instanceof DOMException && error.name === 'ShutdownError';
}
