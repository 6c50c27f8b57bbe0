import { createHmac } from 'node:crypto';

/** `openssl rand -hex 32` of nobody. */
export const hookSecret = '5f0c1d7f0a5e4d3b8e1c9a7b6d2f4e80';

/** A table `[[hooks]]`. */
export function hookTable(fields: Readonly<Record<string, string>>): string {
  const all = { name: 'ci', secret: hookSecret, ...fields };
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `[[hooks]]\n${lines.join('\n')}\n`;
}

export type Sent = Readonly<{ status: number; text: string; retryAfter: string | null }>;

export async function post(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): Promise<Sent> {
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain', ...headers },
  });
  return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') };
}

export const bearer = { authorization: `Bearer ${hookSecret}` };

/** As Standard Webhooks signs. */
export function signed(body: string, id: string, at: number, secret = hookSecret): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** As GitHub signs. */
export function signedByGithub(body: string): Record<string, string> {
  const digest = createHmac('sha256', hookSecret).update(body).digest('hex');
  return { 'x-hub-signature-256': `sha256=${digest}`, 'content-type': 'application/json' };
}
