import { z } from 'zod';

/** `host:port` to listen on; port 0 takes a free one. */
export const listenAddress = z.string().refine(isListenAddress, {
  error: 'write host and port, such as "127.0.0.1:8443"',
});

function isListenAddress(text: string): boolean {
  const port = /^(?:\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9.-]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

/** An absolute http or https address. */
export const httpUrl = z.string().refine((text) => /^https?:\/\/[^/\s]/.test(text) && URL.canParse(text), {
  error: 'write a whole address, such as "https://example.com/path"',
});

/** A host name, or `*.` and a host name; never a bare `*` and never an IP address (T9). */
export const hostPattern = z
  .string()
  .refine((text) => /^(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i.test(text), {
    error: 'write a host name such as "pypi.org" or "*.example.com"',
  });
