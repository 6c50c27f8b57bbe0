import { createHmac } from 'node:crypto';
import type { Attempt, EnvelopeKind, Transport } from './delivery.ts';
import type { Json } from './event-payloads.ts';

/** The headers Slack signs a body with. */
export function signatureHeaders(
  secret: string,
  body: string,
  timestamp = Math.floor(Date.now() / 1000),
): Readonly<Record<string, string>> {
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': `v0=${signature}` };
}

/** Events as JSON, slash calls as a form, presses as JSON in a form: each signed, and an answer awaited for so long. */
export function createHttpSender(
  url: () => string,
  secret: string,
  knobs: Readonly<{ ackTimeoutMs: number }>,
): Transport {
  return async (kind, payload, retry) => {
    const { type, body } = encode(kind, payload);
    const headers = {
      'content-type': type,
      // So that a balancer spreads them.
      connection: 'close',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      ...signatureHeaders(secret, body),
      ...(retry === undefined
        ? {}
        : { 'x-slack-retry-num': String(retry.num), 'x-slack-retry-reason': retry.reason }),
    };
    try {
      const signal = AbortSignal.timeout(knobs.ackTimeoutMs);
      const response = await fetch(url(), { method: 'POST', headers, body, redirect: 'manual', signal });
      return await toAttempt(response);
    } catch (error) {
      const timeout = error instanceof Error && error.name === 'TimeoutError';
      return { ok: false, reason: timeout ? 'timeout' : 'connection_failed' };
    }
  };
}

async function toAttempt(response: Response): Promise<Attempt> {
  const text = await response.text();
  if (response.status !== 200) {
    const noRetry = response.headers.get('x-slack-no-retry') === '1';
    return { ok: false, reason: 'http_error', noRetry };
  }
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { ok: true, response: isJson && text !== '' ? (JSON.parse(text) as unknown) : text };
}

function encode(kind: EnvelopeKind, payload: Json): Readonly<{ type: string; body: string }> {
  if (kind === 'events_api') return { type: 'application/json', body: JSON.stringify(payload) };
  const form =
    kind === 'interactive'
      ? { payload: JSON.stringify(payload) }
      : Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, String(value)]));
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
}
