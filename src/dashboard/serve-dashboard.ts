import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OperatorError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { defined } from '../lib/json/json-values.ts';
import type { Log } from '../lib/log.ts';
import { serveHttp } from '../lib/net/serve-http.ts';
import { redactTexts } from '../lib/redaction/redact.ts';
import { accessPage } from './access.ts';
import { answerApproval, approvalsPage, revokeRule } from './approvals.ts';
import { auditPage } from './audit.ts';
import { costsPage } from './costs.ts';
import { frame, plainPage } from './frame.ts';
import { healthPage } from './health.ts';
import { html, type Html } from './html.ts';
import { dropLetter, lettersPage, retryDelivery, retryLetter } from './letters.ts';
import { createLive } from './live.ts';
import { memoryPage, removeNote } from './memory.ts';
import { nowPage } from './now.ts';
import type { Action, Page, Source, PageView } from './page.ts';
import { playgroundPage } from './playground.ts';
import { refuseRequest } from './refuse-request.ts';
import { dropRoutine, routinesPage, turnRoutine } from './routines.ts';
import { createSessions, isSameToken, type Session } from './sessions.ts';
import { skilletHere } from '../core/skillet-here.ts';

const pages: readonly Page[] = [
  ...[nowPage, approvalsPage, accessPage, playgroundPage],
  ...[costsPage, lettersPage, routinesPage, memoryPage, auditPage, healthPage],
];

/** What forms do, and the page that shows how it went. */
const actions: ReadonlyMap<string, Readonly<{ act: Action; page: Page }>> = new Map([
  ['/approvals/answer', { act: answerApproval, page: approvalsPage }],
  ['/policy/revoke', { act: revokeRule, page: approvalsPage }],
  ['/inbox/retry', { act: retryLetter, page: lettersPage }],
  ['/inbox/drop', { act: dropLetter, page: lettersPage }],
  ['/outbox/retry', { act: retryDelivery, page: lettersPage }],
  ['/routines/pause', { act: turnRoutine('pause'), page: routinesPage }],
  ['/routines/resume', { act: turnRoutine('resume'), page: routinesPage }],
  ['/routines/remove', { act: dropRoutine, page: routinesPage }],
  ['/memory/remove', { act: removeNote, page: memoryPage }],
]);

const files: ReadonlyMap<string, Readonly<{ type: string; body: string }>> = new Map([
  ['/page.css', fileOf('page.css', 'text/css; charset=utf-8')],
  ['/page.js', fileOf('page.js', 'text/javascript; charset=utf-8')],
]);

/** Milliseconds in which a request has to arrive, and bytes that a form may have. */
const longestRequestMs = 5_000;
const largestForm = 16 * 1024;
const mostConnections = 32;

export type Dashboard = Readonly<{
  /** Makes an address that opens one session within a minute (S8). */
  newLink(): string;
  close(): Promise<void>;
}>;

/** `acts`: forms may change things, in the name of `as` where a person has to answer. */
export type DashboardOptions = Readonly<{
  port: number;
  acts?: Readonly<{ as?: string }>;
  open(): Promise<Source>;
  clock: Clock;
  log: Log;
}>;

/** Serves the operator's page, on loopback only (S8). Throws OperatorError if it can't listen on the port. */
export async function serveDashboard({ port, acts, open, clock, log }: DashboardOptions): Promise<Dashboard> {
  const sessions = createSessions(() => server.port, clock);
  /** What the last form did, which is shown once. */
  const notices = new WeakMap<Session, string>();

  async function looking<Result>(
    { session, url }: Readonly<{ session: Session; url: URL }>,
    look: (view: PageView) => Promise<Result>,
  ): Promise<Readonly<{ result: Result; redact: Source['redact'] }>> {
    const source = await open();
    try {
      const view: PageView = {
        ask: (async (...asked: Parameters<Source['operate']>) =>
          redactTexts(await source.operate(...asked), source.redact)) as PageView['ask'],
        isRunning: source.isRunning,
        config: source.config,
        query: url.searchParams,
        acts: acts === undefined ? undefined : { ...acts, formToken: session.formToken },
        now: clock.now(),
      };
      return { result: await look(view), redact: source.redact };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      throw new OperatorError(source.redact(error.message), { cause: error });
    } finally {
      await source.close();
    }
  }

  const live = createLive({
    async show(session, url, last) {
      const page = pages.find(({ path, lives }) => path === url.pathname && lives === true);
      if (page === undefined || clock.now() >= session.until) return undefined;
      const { result, redact } = await looking({ session, url }, async (view) => {
        const { isRunning } = view;
        // A store that is opened each second would be in the way of a bot that starts (Q9).
        if (!isRunning && last?.isRunning === false) return last;
        return { markup: (await page.main(view)).markup, isRunning };
      });
      return { ...result, markup: redact(result.markup) };
    },
    clock,
    log,
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1') ?? new URL('http://127.0.0.1/unknown');
    const refusal = refuseRequest(request, { port: server.port, isLink: url.pathname === '/enter' });
    if (refusal !== undefined)
      return send(response, refusal.status, plainPage('Refused', refusal.text), { connection: 'close' });
    const file = files.get(url.pathname);
    if (file !== undefined) return send(response, 200, file.body, { 'content-type': file.type });
    if (url.pathname === '/enter') return enter(request, response, url);
    const session = sessions.find(request.headers);
    if (session === undefined) return send(response, 401, plainPage('No session', noSession()));
    if (request.method === 'POST') return act(request, response, { session, url });
    if (url.pathname === '/live') return live.serve(response, session, pageOf(url));
    const page = pages.find(({ path }) => path === url.pathname);
    if (page === undefined)
      return send(response, 404, plainPage('Not found', 'There is no such page. The first page is at /.'));
    const { result, redact } = await looking({ session, url }, async (view) => {
      const notice = notices.get(session);
      notices.delete(session);
      return frame(page, pages, view, { main: await mainOf(page, view), notice });
    });
    send(response, 200, redact(result.markup));
  }

  function enter(request: IncomingMessage, response: ServerResponse, url: URL): void {
    // A program that previews the link must not use it up.
    const value = request.method === 'GET' ? sessions.enter(url.searchParams.get('token') ?? '') : undefined;
    if (value === undefined)
      return send(
        response,
        403,
        plainPage('This link does not work', `It was used, or is too old. ${noSession()}`),
      );
    // This is no redirect, because a strict cookie is not sent with one that began on another site.
    const page = plainPage('Welcome', 'You are in.', '/');
    return send(response, 200, page, { 'set-cookie': sessions.cookie(value) });
  }

  async function act(
    request: IncomingMessage,
    response: ServerResponse,
    { session, url }: Readonly<{ session: Session; url: URL }>,
  ): Promise<void> {
    const action = actions.get(url.pathname);
    if (action === undefined) return send(response, 404, plainPage('Not found', 'There is no such form.'));
    if (acts === undefined)
      return send(
        response,
        403,
        plainPage('Read-only', `Start \`${skilletHere()} dashboard --act\` to change things.`),
      );
    const form = await readForm(request);
    if (form === undefined || !isSameToken(form.get('token') ?? '', session.formToken))
      return send(
        response,
        403,
        plainPage('Refused', 'This form is not from this page. Load the page again.'),
      );
    const said = await looking({ session, url }, (view) => action.act(form, view)).then(
      ({ result, redact }) => redact(result),
      (error: unknown) => {
        if (!(error instanceof OperatorError)) throw error;
        return error.message;
      },
    );
    notices.set(session, said);
    response.writeHead(303, { ...headers, location: action.page.path }).end();
  }

  const server = await serveHttp(
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        const isKnown = error instanceof OperatorError;
        if (!isKnown) log.error({ err: error }, 'a page of the dashboard could not be shown');
        const text = isKnown ? error.message : 'The reason is in the log of the dashboard.';
        if (response.headersSent) response.destroy();
        else send(response, 500, plainPage('This page can’t be shown', text));
      });
    },
    { host: '127.0.0.1', port, longestRequestMs, mostConnections, cannotListen: cannotListen(port) },
  );
  return {
    newLink: () => `${server.url}/enter?token=${sessions.newLink()}`,
    async close() {
      live.stop();
      await server.close();
    },
  };
}

const noSession = (): string =>
  `Press Enter where \`${skilletHere()} dashboard\` runs to get a new link, and open it.`;

/** If a part fails, the page keeps its navigation. */
async function mainOf(page: Page, view: PageView): Promise<Html> {
  try {
    return await page.main(view);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return html`<p class="no">${error.message}</p>`;
  }
}

function pageOf(url: URL): URL {
  return URL.parse(url.searchParams.get('page') ?? '', 'http://127.0.0.1') ?? url;
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (request.headers['content-type']?.split(';')[0] !== 'application/x-www-form-urlencoded')
    return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestForm) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

/** Allows no script, style or image from elsewhere, none inside the page, and no other page around it. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer`, forms would come without their origin.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

function send(
  response: ServerResponse,
  status: number,
  body: Html | string,
  more: Readonly<Record<string, string | undefined>> = {},
): void {
  const text = typeof body === 'string' ? body : body.markup;
  const type = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
  };
  response.writeHead(status, { ...headers, ...type, ...defined<string>(more) });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

function fileOf(name: string, type: string): Readonly<{ type: string; body: string }> {
  return { type, body: readFileSync(new URL(name, import.meta.url), 'utf8') };
}

const cannotListen = (port: number) => (why: string, cause: Error) =>
  new OperatorError(
    `The dashboard can't listen on 127.0.0.1:${port}: ${why}. Choose another --port, or leave it out for a free one.`,
    { cause },
  );
