/** Aborted work continues at the next start (Q7). */
export function shutdownReason(): DOMException {
  return new DOMException('shutting down', 'ShutdownError');
}

export function isShuttingDown(signal: AbortSignal): boolean {
  return signal.aborted && isShutdown(signal.reason);
}

export function isShutdown(error: unknown): error is DOMException {
  return error instanceof DOMException && error.name === 'ShutdownError';
}
