import type { IncomingMessage, ServerResponse } from 'node:http';
import { OperatorError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { serveHttp } from '../lib/net/serve-http.ts';
import { actOn } from './act-on.ts';
import { frame, menu, plainPage } from './frame.ts';
import { html, type Html } from '../lib/text/html.ts';
import { createLive } from './live.ts';
import { lookAt } from './look-at.ts';
import { files, headers, readForm, send } from './responses.ts';
import type { Acts, Action, Done, Source } from './page.ts';
import { actions, downloads, pages } from './pages.ts';
import { refuseRequest } from './refuse-request.ts';
import { createSessions, isSameToken, type Session } from './sessions.ts';
import { endSession } from './sessions-page.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** Milliseconds in which a request has to arrive. */
const longestRequestMs = 5_000;
const mostConnections = 32;

export type Dashboard = Readonly<{
  /** Makes an address that opens one session within a minute (S8). */
  newLink(): string;
  close(): Promise<void>;
}>;

/** `acts`: forms may change things, in the name of `as` where a person has to answer. */
export type DashboardOptions = Readonly<{
  port: number;
  acts?: Acts;
  open(): Promise<Source>;
  clock: Clock;
  log: Log;
}>;

type Asked = Readonly<{ session: Session; url: URL }>;

/** Serves the operator's page, on loopback only (S8). Throws OperatorError if it can't listen on the port. */
export async function serveDashboard({ port, acts, open, clock, log }: DashboardOptions): Promise<Dashboard> {
  const sessions = createSessions(() => server.port, clock);
  /** What the last form did, which is shown once. */
  const notices = new WeakMap<Session, Done>();
  const looking = lookAt({ open, acts, clock, sessions });
  const everyAction: ReadonlyMap<string, Action> = new Map([
    ...actions,
    ['/sessions/end', endSession(sessions.end)],
  ]);

  const live = createLive({
    async show(session, url, last) {
      const page = pages.find(({ path, lives }) => path === url.pathname && lives === true);
      if (page === undefined || !sessions.isOpen(session)) return undefined;
      const { result, redact } = await looking({ session, url }, async (view) => {
        const { isRunning } = view;
        // A store that is opened each second would be in the way of a bot that starts (Q9).
        if (!isRunning && last?.isRunning === false) return last;
        const { markup } = await page.main(view);
        return { markup, menu: menu(page.path, pages, view.waits).markup, isRunning };
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
    const download = downloads.find(({ path }) => path === url.pathname);
    if (download !== undefined) {
      const { result, redact } = await looking({ session, url }, download.text);
      return send(response, 200, redact(result.text), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${result.name}"`,
      });
    }
    const page = pages.find(({ path }) => path === url.pathname);
    if (page === undefined)
      return send(response, 404, plainPage('Not found', 'There is no such page. The first page is at /.'));
    const { result, redact } = await looking({ session, url }, async (view) => {
      const notice = notices.get(session);
      notices.delete(session);
      const main = await page.main(view).catch(whyNoMain);
      return frame(page, pages, view, { main, notice });
    });
    send(response, 200, redact(result.markup));
  }

  function enter(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const browser = request.headers['user-agent'] ?? '';
    // A program that previews the link must not use it up.
    const value =
      request.method === 'GET' ? sessions.enter(url.searchParams.get('token') ?? '', browser) : undefined;
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

  async function act(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<void> {
    const { pathname } = asked.url;
    const action = everyAction.get(pathname);
    const refuse = (status: number, title: string, text: string): void =>
      send(response, status, plainPage(title, text));
    if (action === undefined) return refuse(404, 'Not found', 'There is no such form.');
    if (acts === undefined && action.always !== true)
      return refuse(403, 'Read-only', `Start \`${skilletHere()} dashboard --act\` to change things.`);
    const form = await readForm(request);
    if (form === undefined || !isSameToken(form.get('token') ?? '', asked.session.formToken))
      return refuse(403, 'Refused', 'This form is not from this page. Load the page again.');
    const { result, redact } = await looking(asked, (view) => actOn(action, { pathname, form }, view));
    if (result.kind === 'question') return send(response, 200, redact(result.page.markup));
    const { text, undo } = result.done;
    notices.set(asked.session, { text: redact(text), undo });
    response.writeHead(303, { ...headers, location: result.back }).end();
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

/** If a part fails, the page keeps its menu. */
function whyNoMain(error: unknown): Html {
  if (!(error instanceof OperatorError)) throw error;
  return html`<p class="no">${error.message}</p>`;
}

function pageOf(url: URL): URL {
  return URL.parse(url.searchParams.get('page') ?? '', 'http://127.0.0.1') ?? url;
}

const cannotListen = (port: number) => (why: string, cause: Error) =>
  new OperatorError(
    `The dashboard can't listen on 127.0.0.1:${port}: ${why}. Choose another --port, or leave it out for a free one.`,
    { cause },
  );
