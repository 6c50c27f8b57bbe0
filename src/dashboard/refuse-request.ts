import type { IncomingMessage } from 'node:http';
import { skilletHere } from '../core/skillet-here.ts';

export type Refusal = Readonly<{ status: number; text: string }>;

type Asked = Pick<IncomingMessage, 'method' | 'headers'>;

/**
 * Says why a request is not from the dashboard's own pages (S8): another `Host` (DNS rebinding), or a form or script of
 * another page. Undefined if it may be.
 */
export function refuseRequest(
  { method = '', headers }: Asked,
  { port, isLink }: Readonly<{ port: number; isLink: boolean }>,
): Refusal | undefined {
  const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${port}`);
  if (headers.host === undefined || !hosts.includes(headers.host))
    return {
      status: 421,
      text: `This host is unknown here. Use the address that \`${skilletHere()} dashboard\` printed.`,
    };
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
    return { status: 405, text: 'Pages are read by GET and changed by POST.' };
  const own = `http://${headers.host}`;
  const { origin } = headers;
  if (origin === undefined ? method === 'POST' : origin !== own)
    return { status: 403, text: 'This request comes from another page.' };
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  // The link may be opened from anywhere, because it has its own proof.
  if (!isOwn && !isLink) return { status: 403, text: 'This request comes from another page.' };
  return undefined;
}
