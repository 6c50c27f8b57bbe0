import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Grants } from './grants.ts';
import { callbackPage, confirmPage, devicePage, messagePage } from './page-html.ts';

const asked = { user: z.string().min(1).max(200), notebook: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/) };
const bodies = {
  '/authorizations': z.object({
    ...asked,
    state: z.string().min(16).max(200),
    code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    code_challenge_method: z.literal('S256'),
  }),
  '/device-authorizations': z.object(asked),
  '/token': z.union([
    z.object({ code: z.string(), code_verifier: z.string().min(43).max(128) }),
    z.object({ device_code: z.string() }),
  ]),
} as const;

/** Longest body in characters. */
const longest = 10_000;

/** Serves the page at `own` (`host:port`): forms for people, JSON for the provider. */
export function createPageHandler(grants: Grants, own: string): RequestListener {
  return (request, response) => {
    void handle(request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '/', `http://${own}`);
    // A name that leads here from somewhere else, or a form of another site, is not for this page.
    if (headers.host !== own) return html(response, 421, messagePage('This page has another address.'));
    if (method === 'POST' && (headers.origin ?? `http://${own}`) !== `http://${own}`)
      return html(response, 403, messagePage('This form does not belong to this page.'));
    const body = method === 'POST' ? await bodyOf(request) : '';
    const json = method === 'POST' && headers['content-type'] === 'application/json';
    if (json) return answerJson(response, url.pathname, body);
    const form = new URLSearchParams(body);
    switch (`${method} ${url.pathname}`) {
      case 'GET /authorize': {
        const id = url.searchParams.get('request') ?? '';
        const isWhole = grants.began(id, {
          state: url.searchParams.get('state') ?? '',
          challenge: url.searchParams.get('code_challenge') ?? '',
        });
        return confirm(response, isWhole ? id : '');
      }
      case 'GET /device':
        return html(response, 200, devicePage());
      case 'POST /device': {
        const id = grants.byUserCode(form.get('user_code') ?? '');
        return id === undefined
          ? html(response, 404, messagePage('This code is not known, or too old.'))
          : confirm(response, id);
      }
      case 'POST /decide':
        return decide(response, form.get('request') ?? '', form.get('decision') === 'allow');
      case 'GET /callback':
        return html(response, 200, callbackPage(url));
      default:
        return html(response, 404, messagePage('There is nothing here.'));
    }
  }

  function confirm(response: ServerResponse, id: string): void {
    const what = grants.asked(id);
    if (what === undefined) return html(response, 404, messagePage('This request is not known, or too old.'));
    html(response, 200, confirmPage(id, what));
  }

  function decide(response: ServerResponse, id: string, allow: boolean): void {
    const decided = grants.decide(id, allow ? 'granted' : 'denied');
    if (decided === undefined)
      return html(response, 404, messagePage('This request is not known, or too old.'));
    if (decided.kind === 'done')
      return html(response, 200, messagePage(allow ? 'Done: go back to the bot.' : 'Nothing was linked.'));
    const callback = new URL(`http://${own}/callback`);
    for (const [name, value] of Object.entries(decided.query)) callback.searchParams.set(name, value);
    response.writeHead(303, { location: callback.href }).end();
  }

  function answerJson(response: ServerResponse, path: string, body: string): void {
    const input = parse(body);
    switch (path) {
      case '/authorizations': {
        const read = bodies[path].safeParse(input);
        if (!read.success) break;
        const { user, notebook, state, code_challenge: challenge } = read.data;
        return send(response, 201, { request: grants.authorize({ user, notebook }, { state, challenge }) });
      }
      case '/device-authorizations': {
        const read = bodies[path].safeParse(input);
        if (!read.success) break;
        return send(response, 201, grants.device(read.data));
      }
      case '/token': {
        const read = bodies[path].safeParse(input);
        if (!read.success) break;
        const token =
          'code' in read.data
            ? grants.byCode(read.data.code, read.data.code_verifier)
            : grants.byDevice(read.data.device_code);
        return send(response, 'error' in token ? 400 : 200, token);
      }
    }
    send(response, 400, { error: 'invalid_request' });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length'] ?? longest + 1) > longest) {
    request.destroy();
    return '';
  }
  return text(request);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const safe = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function html(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { ...safe, 'content-type': 'text/html; charset=utf-8' }).end(page);
}

function send(response: ServerResponse, status: number, data: unknown): void {
  response.writeHead(status, { ...safe, 'content-type': 'application/json' }).end(JSON.stringify(data));
}
