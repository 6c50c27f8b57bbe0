import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../lib/clock.ts';

const linkMs = 60_000;
const sessionMs = 12 * 60 * 60_000;
const longestBrowser = 300;

export type Session = Readonly<{
  id: string;
  since: number;
  until: number;
  /** What the browser said of itself when it opened the session. */
  browser: string;
  /** A secret in each form, which a form from another page does not have. */
  formToken: string;
}>;

/** A session as the list of sessions shows it. Times are in Unix milliseconds. */
export type OpenSession = Omit<Session, 'formToken'> & Readonly<{ seen: number; isOwn: boolean }>;

export type Sessions = Readonly<{
  /** Makes a token that opens one session within a minute (S8). An earlier link stops working. */
  newLink(): string;
  /** Opens a session and returns the value of its cookie. Undefined if the link was used or is too old. */
  enter(link: string, browser?: string): string | undefined;
  find(headers: IncomingHttpHeaders): Session | undefined;
  /** False once it is past its time, or somebody ended it. */
  isOpen(session: Session): boolean;
  /** Open sessions: this one first, then the newest. */
  list(own: Session): readonly OpenSession[];
  /** Ends a session. False if there is none with this id. */
  end(id: string): boolean;
  /** The value of the cookie as a `Set-Cookie` header. */
  cookie(value: string): string;
}>;

/**
 * Sessions in memory, so that they end with the process. Only hashes are kept, so the time of a look-up reveals
 * nothing.
 */
export function createSessions(port: () => number, clock: Clock): Sessions {
  const sessions = new Map<string, Session>();
  const seen = new Map<string, number>();
  let link: Readonly<{ hash: string; until: number }> | undefined;
  // The ports of one address share its cookies, so the name has the port in it.
  const name = (): string => `skillet-dashboard-${port()}`;

  const isOpen = (session: Session): boolean =>
    clock.now() < session.until && [...sessions.values()].includes(session);

  return {
    newLink() {
      const token = newToken();
      link = { hash: hashOf(token), until: clock.now() + linkMs };
      return token;
    },
    enter(token, browser = '') {
      if (link === undefined || !isSameToken(hashOf(token), link.hash) || clock.now() >= link.until)
        return undefined;
      link = undefined;
      const value = newToken();
      const since = clock.now();
      for (const [hash, { until }] of sessions) if (until <= since) sessions.delete(hash);
      const id = newToken().slice(0, 8);
      const session = { id, since, until: since + sessionMs, browser: browser.slice(0, longestBrowser) };
      sessions.set(hashOf(value), { ...session, formToken: newToken() });
      return value;
    },
    find({ cookie = '' }) {
      for (const pair of cookie.split(';')) {
        const [key, value = ''] = pair.trim().split('=', 2);
        const session = key === name() ? sessions.get(hashOf(value)) : undefined;
        if (session === undefined || !isOpen(session)) continue;
        seen.set(session.id, clock.now());
        return session;
      }
      return undefined;
    },
    isOpen,
    list(own) {
      const open = [...sessions.values()].filter(isOpen);
      return open
        .map(({ id, since, until, browser }) => ({
          ...{ id, since, until, browser, seen: seen.get(id) ?? since, isOwn: id === own.id },
        }))
        .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.since - a.since);
    },
    end(id) {
      const found = [...sessions].find(([, session]) => session.id === id);
      if (found === undefined) return false;
      seen.delete(id);
      return sessions.delete(found[0]);
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
