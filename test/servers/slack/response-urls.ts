import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { bodyOf } from './chat-methods.ts';
import type { Json } from './event-payloads.ts';
import { SlackRefusal } from './method-context.ts';
import type { Watch } from './watch.ts';
import { readBody } from './web-api.ts';

/** The addresses that slash calls and presses may be answered at: five times within 30 minutes. */
export type ResponseUrls = Readonly<{
  create(channel: string): string;
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
}>;

export function createResponseUrls(base: () => string, shown: Watch<Json>, now: () => number): ResponseUrls {
  const urls = new Map<string, { channel: string; uses: number; until: number }>();
  return {
    create(channel) {
      const id = randomUUID();
      urls.set(id, { channel, uses: 0, until: now() + 30 * 60_000 });
      return `${base()}/response/${id}`;
    },
    async serve(request, response) {
      const url = urls.get((request.url ?? '').replace('/response/', ''));
      const body = await readBody(request);
      if (url === undefined || url.until < now() || url.uses >= 5) {
        response.writeHead(404).end(url === undefined ? 'used_url' : 'expired_url');
        return;
      }
      url.uses += 1;
      try {
        const args = JSON.parse(body.toString()) as Json;
        shown.add({
          kind: 'response',
          channel: url.channel,
          type: args['response_type'] ?? 'ephemeral',
          ...bodyOf(args),
        });
        response.writeHead(200).end('ok');
      } catch (error) {
        const refused = error instanceof SlackRefusal ? error.message : 'invalid_payload';
        response.writeHead(400).end(refused);
      }
    },
  };
}
