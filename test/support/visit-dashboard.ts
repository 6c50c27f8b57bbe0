import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { readConfigFile } from '../../src/config/load-config.ts';
import { secretsOfConfig } from '../../src/config/secrets-of-config.ts';
import { serveDashboard, type DashboardOptions } from '../../src/dashboard/serve-dashboard.ts';
import type { Check } from '../../src/operator/doctor/finding.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { createRedactor } from '../../src/lib/redaction/redact.ts';
import { quietLog } from './quiet-log.ts';
import type { WholeBot } from './whole-bot.ts';

export type Answer = Readonly<{
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}>;

type Asked = Readonly<{
  method?: string;
  headers?: Readonly<Record<string, string>>;
  form?: Readonly<Record<string, string>>;
}>;

/** A request with any headers, `Host` and `Origin` included, which `fetch` does not send. */
export async function ask(url: string, { method, headers, form }: Asked = {}): Promise<Answer> {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: method ?? (body === undefined ? 'GET' : 'POST'), headers: { ...type, ...headers } },
      (response) => {
        text(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        );
      },
    );
    asked.on('error', reject).end(body);
  });
}

/** A browser's session, as far as cookies and forms go. */
export type Visitor = Readonly<{
  origin: string;
  cookie: string;
  get(where: string): Promise<Answer>;
  /** Sends a form with the token of the session, and says yes if it is asked; gives the page that shows how it went. */
  post(where: string, form: Readonly<Record<string, string>>): Promise<Answer>;
}>;

/** The pages of the menu. */
export const everyPage = [
  ...['/', '/now', '/approvals', '/letters', '/routines'],
  ...['/people', '/conversations', '/access', '/playground', '/accounts'],
  ...['/skills', '/memory', '/health', '/checks', '/costs', '/audit', '/sessions'],
] as const;

export async function enter(link: string): Promise<Visitor> {
  const entered = await ask(link);
  const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
  const { origin } = new URL(link);
  let token = '';
  const get = (where: string) => ask(origin + where, { headers: { cookie } });
  return {
    origin,
    cookie,
    get,
    async post(where, form) {
      token = /name="token"\s+value="([^"]+)"/.exec((await get('/sessions')).body)?.[1] ?? token;
      const answer = await ask(origin + where, {
        headers: { cookie, origin },
        form: { token, sure: 'yes', ...form },
      });
      return answer.status === 303 ? get(String(answer.headers['location'])) : answer;
    },
  };
}

/** The dashboard of a bot in this process. */
export async function openDashboard(
  t: Readonly<{ after(end: () => Promise<void>): void }>,
  { bot, home }: Pick<WholeBot, 'bot' | 'home'>,
  options: Pick<DashboardOptions, 'acts'> & Readonly<{ clock?: Clock; checks?: readonly Check[] }> = {},
): Promise<Awaited<ReturnType<typeof serveDashboard>>> {
  const parsed = await readConfigFile({ file: path.join(home, 'config.toml'), env: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;
  const dashboard = await serveDashboard({
    port: 0,
    acts: options.acts,
    open: async () => ({
      operate: bot.operate,
      isRunning: true,
      config,
      examine: async () => options.checks ?? [],
      redact: createRedactor(secretsOfConfig(config)),
      close: async () => undefined,
    }),
    clock: options.clock ?? systemClock,
    log: quietLog(),
  });
  t.after(dashboard.close);
  return dashboard;
}
