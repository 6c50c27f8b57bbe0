/** Why work is aborted when the process ends: it is not over, it continues at the next start (Q7). */
export function shutdownReason(): DOMException {
  return new DOMException('shutting down', 'ShutdownError');
}

/** Whether a signal was aborted because the process ends. */
export function isShuttingDown(signal: AbortSignal): boolean {
  return signal.aborted && isShutdown(signal.reason);
}

/** Whether work ended only because the process ends: it has no outcome. */
export function isShutdown(error: unknown): error is DOMException {
  return error instanceof DOMException && error.name === 'ShutdownError';
}
