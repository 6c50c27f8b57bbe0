import { createHash, randomBytes, randomInt } from 'node:crypto';

/** What a person is asked to confirm. */
export type Asked = Readonly<{ user: string; notebook: string }>;

/** How a request stands. `code` is what the person carries to the bot, where the flow is that of a code. */
type Request = Asked & {
  readonly expires: number;
  readonly redirect?: Readonly<{ state: string; challenge: string }>;
  readonly userCode?: string;
  decision?: 'granted' | 'denied';
  polled?: number;
};

export type Decided = Readonly<
  { kind: 'redirect'; query: Readonly<Record<string, string>> } | { kind: 'done' }
>;

export type Token = Asked | Readonly<{ error: string }>;

const lifeMs = 10 * 60_000;
const most = 1_000;
/** Seconds between two polls. */
export const interval = 2;
/** Letters that nobody takes for another one. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export type Grants = ReturnType<typeof createGrants>;

/** What is under way on the page: requests, codes and device codes, each good once and for ten minutes. */
export function createGrants(now: () => number) {
  const requests = new Map<string, Request>();
  const codes = new Map<string, Readonly<{ request: Request }>>();
  const devices = new Map<string, Request>();

  return {
    /** A request of the authorization-code flow; the id goes into the address that the person opens. */
    authorize: (asked: Asked, redirect: Readonly<{ state: string; challenge: string }>): string =>
      keep({ ...asked, redirect, expires: now() + lifeMs }),

    device(
      asked: Asked,
    ): Readonly<{ request: string; device_code: string; user_code: string; interval: number }> {
      const userCode = `${word(4)}-${word(4)}`;
      const request: Request = { ...asked, userCode, expires: now() + lifeMs };
      const id = keep(request);
      const device_code = secret();
      devices.set(device_code, request);
      return { request: id, device_code, user_code: userCode, interval };
    },

    /** Whether the address that a person opened is the one that this request was made for. */
    began(id: string, { state, challenge }: Readonly<{ state: string; challenge: string }>): boolean {
      const redirect = requests.get(id)?.redirect;
      return redirect?.state === state && redirect.challenge === challenge;
    },

    /** What is asked under this id, while nobody decided it. */
    asked(id: string): Asked | undefined {
      const request = requests.get(id);
      return request !== undefined && open(request) ? request : undefined;
    },

    /** The id behind a code that a person typed, however they wrote it. */
    byUserCode(typed: string): string | undefined {
      const plain = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
      return [...requests].find(
        ([, request]) => request.userCode?.replace('-', '') === plain && open(request),
      )?.[0];
    },

    /** A person's word, which counts once. */
    decide(id: string, decision: 'granted' | 'denied'): Decided | undefined {
      const request = requests.get(id);
      if (request === undefined || !open(request)) return undefined;
      request.decision = decision;
      requests.delete(id);
      if (request.redirect === undefined) return { kind: 'done' };
      const { state } = request.redirect;
      if (decision === 'denied') return { kind: 'redirect', query: { error: 'access_denied', state } };
      const code = secret();
      codes.set(code, { request });
      return { kind: 'redirect', query: { code, state } };
    },

    /** Exchanges a code: good once, also where the verifier is wrong. */
    byCode(code: string, verifier: string): Token {
      const request = codes.get(code)?.request;
      codes.delete(code);
      if (request?.redirect === undefined || request.expires <= now()) return { error: 'invalid_grant' };
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      return challenge === request.redirect.challenge ? plain(request) : { error: 'invalid_grant' };
    },

    byDevice(code: string): Token {
      const request = devices.get(code);
      if (request === undefined) return { error: 'invalid_grant' };
      if (request.expires <= now()) return { error: 'expired_token' };
      if (request.decision === undefined) {
        const early = request.polled !== undefined && now() - request.polled < interval * 1_000;
        request.polled = now();
        return { error: early ? 'slow_down' : 'authorization_pending' };
      }
      devices.delete(code);
      return request.decision === 'granted' ? plain(request) : { error: 'access_denied' };
    },
  };

  function keep(request: Request): string {
    for (const kept of [requests, devices]) {
      for (const [id, { expires }] of kept)
        if (expires <= now() - lifeMs || kept.size >= most) kept.delete(id);
    }
    for (const [code, { request: of }] of codes) if (of.expires <= now()) codes.delete(code);
    const id = secret();
    requests.set(id, request);
    return id;
  }

  function open({ decision, expires }: Request): boolean {
    return decision === undefined && expires > now();
  }
}

function plain({ user, notebook }: Request): Asked {
  return { user, notebook };
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

function word(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
}
