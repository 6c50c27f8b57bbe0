import type { ServerResponse } from 'node:http';
import { OperatorError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Session } from './sessions.ts';

const lookEveryMs = 1_000;
/** How many pages may be watched at once, because each look asks the bot. */
const mostWatchers = 8;

export type Live = Readonly<{
  /** Sends the content of a page whenever it has changed, as server-sent events. */
  serve(response: ServerResponse, session: Session, page: URL): Promise<void>;
  stop(): void;
}>;

/** What a live page shows, and the menu with what waits. */
export type LivePage = Readonly<{ markup: string; menu: string; isRunning: boolean }>;

/** How often times that only passed are sent again, because they say how long ago something was. */
const timesEveryMs = 60_000;

/** `show` receives what was shown last. It returns undefined for a page that does not change by itself. */
export function createLive(options: {
  show(session: Session, page: URL, last: LivePage | undefined): Promise<LivePage | undefined>;
  clock: Clock;
  log: Log;
}): Live {
  const { show, clock, log } = options;
  const stopping = new AbortController();
  let watchers = 0;

  async function watch(response: ServerResponse, session: Session, page: URL): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const over = AbortSignal.any([gone.signal, stopping.signal]);
    let last: LivePage | undefined;
    let sentAt = 0;
    while (!over.aborted) {
      const now = await show(session, page, last).catch((error: unknown) => {
        // The bot may be restarting, or taking over the store.
        if (!(error instanceof OperatorError)) log.warn({ err: error }, 'a live page could not be shown');
        return last;
      });
      if (now === undefined) break;
      const isOld = clock.now() - sentAt >= timesEveryMs && now.markup !== last?.markup;
      if (last === undefined || withoutTimes(now.markup) !== withoutTimes(last.markup) || isOld) {
        response.write(`data: ${JSON.stringify(now.markup)}\n\n`);
        sentAt = clock.now();
        last = { ...now, menu: last?.menu ?? '' };
      }
      if (now.menu !== last.menu) response.write(`event: menu\ndata: ${JSON.stringify(now.menu)}\n\n`);
      last = { ...last, menu: now.menu, isRunning: now.isRunning };
      await clock.sleep(lookEveryMs, over).catch(() => undefined);
    }
    response.end();
  }

  return {
    async serve(response, session, page) {
      if (watchers >= mostWatchers) {
        response.writeHead(503, { 'retry-after': '10' }).end();
        return;
      }
      watchers += 1;
      try {
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        });
        await watch(response, session, page);
      } finally {
        watchers -= 1;
      }
    },
    stop: () => stopping.abort(),
  };
}

/** What is left if only time passes. */
function withoutTimes(markup: string): string {
  return markup.replace(/(<time [^>]*>)[^<]*/g, '$1');
}
