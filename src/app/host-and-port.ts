/** `127.0.0.1:8443` or `[::1]:8443`, checked when the config was read, in its two parts. */
export function hostAndPort(listen: string): Readonly<{ host: string; port: number }> {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) };
}
