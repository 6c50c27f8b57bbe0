import { OperatorError } from '../core/errors.ts';
import { operatorZone } from '../core/local-time.ts';
import type { Clock } from '../lib/clock.ts';
import { redactTexts } from '../lib/redaction/redact.ts';
import { createNames } from './names.ts';
import type { Acts, PageView, Source } from './page.ts';
import type { Session, Sessions } from './sessions.ts';
import { createTimes } from './times.ts';
import { countWaits } from './waits.ts';

/** Looks at the bot or its store once, for one request. */
export type Looking = <Result>(
  asked: Readonly<{ session: Session; url: URL }>,
  look: (view: PageView) => Promise<Result>,
) => Promise<Readonly<{ result: Result; redact: Source['redact'] }>>;

type Deps = Readonly<{
  open(): Promise<Source>;
  acts: Acts | undefined;
  clock: Clock;
  sessions: Sessions;
}>;

export function lookAt({ open, acts, clock, sessions }: Deps): Looking {
  return async ({ session, url }, look) => {
    const source = await open();
    const { redact, config, isRunning, examine } = source;
    try {
      const ask = (async (...asked: Parameters<Source['operate']>) =>
        redactTexts(await source.operate(...asked), redact)) as PageView['ask'];
      const now = clock.now();
      const [known, waits] = await Promise.all([
        ask('names').catch(unlessOther({ people: {}, chats: {} })),
        countWaits(ask, now),
      ]);
      const view: PageView = {
        ...{ ask, examine, isRunning, config, acts, now, waits },
        ...{ path: url.pathname, query: url.searchParams, formToken: session.formToken },
        times: createTimes(now, operatorZone(config)),
        names: createNames(known),
        sessions: sessions.list(session),
      };
      return { result: await look(view), redact };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      throw new OperatorError(redact(error.message), { cause: error });
    } finally {
      await source.close();
    }
  };
}

/** A page is shown without names if there are none to be had, as during an outage of the store. */
function unlessOther<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (!(error instanceof OperatorError)) throw error;
    return value;
  };
}
