import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../lib/clock.ts';

const linkMs = 60_000;
const sessionMs = 12 * 60 * 60_000;

export type Session = Readonly<{
  until: number;
  /** A secret in each form, which a form from another page does not have. */
  formToken: string;
}>;

export type Sessions = Readonly<{
  /** Makes a token that opens one session within a minute (S8). An earlier link stops working. */
  newLink(): string;
  /** Opens a session and returns the value of its cookie. Undefined if the link was used or is too old. */
  enter(link: string): string | undefined;
  find(headers: IncomingHttpHeaders): Session | undefined;
  /** The value of the cookie as a `Set-Cookie` header. */
  cookie(value: string): string;
}>;

/**
 * Sessions in memory, so that they end with the process. Only hashes are kept, so the time of a look-up reveals
 * nothing.
 */
export function createSessions(port: () => number, clock: Clock): Sessions {
  const sessions = new Map<string, Session>();
  let link: Readonly<{ hash: string; until: number }> | undefined;
  // The ports of one address share its cookies, so the name has the port in it.
  const name = (): string => `skillet-dashboard-${port()}`;

  return {
    newLink() {
      const token = newToken();
      link = { hash: hashOf(token), until: clock.now() + linkMs };
      return token;
    },
    enter(token) {
      if (link === undefined || !isSameToken(hashOf(token), link.hash) || clock.now() >= link.until)
        return undefined;
      link = undefined;
      const value = newToken();
      sessions.set(hashOf(value), { formToken: newToken(), until: clock.now() + sessionMs });
      return value;
    },
    find({ cookie = '' }) {
      for (const pair of cookie.split(';')) {
        const [key, value = ''] = pair.trim().split('=', 2);
        const session = key === name() ? sessions.get(hashOf(value)) : undefined;
        if (session !== undefined && clock.now() < session.until) return session;
      }
      return undefined;
    },
    cookie: (value) => `${name()}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${sessionMs / 1_000}`,
  };
}

/** Compares two secrets. The time it takes does not reveal how much of them is equal. */
export function isSameToken(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(one)), Buffer.from(hashOf(other)));
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
