import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** How far a sender's clock may be off, in milliseconds. After that a signed request no longer counts. */
export const windowMs = 5 * 60_000;

const longestId = 200;

export type Verified = Readonly<
  /** `delivery` is the id of the event, which repeats share. Undefined: only the body can show a repeat. */
  { ok: true; delivery: string | undefined } | { ok: false; outcome: 'forged' | 'stale'; why: string }
>;

/**
 * Checks who sent a request. `standard`: signed by Standard Webhooks (`webhook-id`, `webhook-timestamp`,
 * `webhook-signature`), or with `Authorization: Bearer`. `github`: signed by `X-Hub-Signature-256`, which covers only
 * the body.
 */
export function verifyRequest(
  { headers, body }: Readonly<{ headers: IncomingHttpHeaders; body: Uint8Array }>,
  { secret, signature }: Readonly<{ secret: string; signature: 'standard' | 'github' }>,
  now: number,
): Verified {
  if (signature === 'github') return verifyGithub(headers['x-hub-signature-256'], body, secret);
  const id = one(headers['webhook-id']);
  if (id !== undefined && (id === '' || id.length > longestId))
    return forged(`webhook-id has 1 to ${longestId} characters`);
  if (headers['webhook-signature'] !== undefined) return verifyStandard({ headers, body, id }, secret, now);
  const [, bearer = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer === '') return forged('send a webhook-signature, or authorization: Bearer SECRET');
  return sameText(bearer, secret) ? { ok: true, delivery: id } : forged('the secret is another one');
}

function verifyStandard(
  { headers, body, id }: Readonly<{ headers: IncomingHttpHeaders; body: Uint8Array; id: string | undefined }>,
  secret: string,
  now: number,
): Verified {
  const timestamp = one(headers['webhook-timestamp']) ?? '';
  if (id === undefined || !/^\d{1,12}$/.test(timestamp))
    return forged('a signature needs webhook-id and webhook-timestamp (Unix seconds), too');
  const signed = createHmac('sha256', keyOf(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  // While secrets change, a sender signs with both of them.
  const given = (one(headers['webhook-signature']) ?? '').split(' ').slice(0, 8);
  if (!given.some((each) => sameText(each, `v1,${signed}`))) return forged('the signature is another one');
  if (Math.abs(now - Number(timestamp) * 1_000) > windowMs)
    return { ok: false, outcome: 'stale', why: 'webhook-timestamp is more than 5 minutes off' };
  return { ok: true, delivery: id };
}

/** GitHub does not sign its delivery id, so the body shows repeats. */
function verifyGithub(given: string | string[] | undefined, body: Uint8Array, secret: string): Verified {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return sameText(one(given) ?? '', `sha256=${digest}`)
    ? { ok: true, delivery: `body:${hashOf(body)}` }
    : forged('X-Hub-Signature-256 is missing or another one');
}

/** The key of a secret: `whsec_` and base64, as Standard Webhooks writes it, or any other text as it is. */
function keyOf(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/=]+)$/.exec(secret) ?? [];
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64');
}

export function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(' ') : header;
}

/** Compares in constant time; hashes all have the same length. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function forged(why: string): Verified {
  return { ok: false, outcome: 'forged', why };
}
