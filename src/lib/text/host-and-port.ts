/** `127.0.0.1:8443` or `[::1]:8443`, checked before. */
export function hostAndPort(listen: string): Readonly<{ host: string; port: number }> {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) };
}

/** Why an address can't be listened on, in plain words. */
export function whyNotListening(error: NodeJS.ErrnoException): string {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program has that port',
    EADDRNOTAVAIL: 'this machine has no such address',
    EACCES: 'ports below 1024 need more rights',
    ENOTFOUND: 'that name is unknown',
  };
  return why[error.code ?? ''] ?? error.message;
}
