/** Why work is aborted when the process ends: it is not over, it goes on at the next start (Q7). */
export function shutdownReason(): DOMException {
  return new DOMException('shutting down', 'ShutdownError');
}

/** Whether a signal was aborted because the process ends. */
export function isShuttingDown(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof DOMException && signal.reason.name === 'ShutdownError';
}
