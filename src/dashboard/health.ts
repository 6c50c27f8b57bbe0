import type { Readiness } from '../operator/health/open-metrics.ts';
import { cell, badge, rowHead, table } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { servers } from './now.ts';
import type { Page } from './page.ts';

export const healthPage: Page = {
  path: '/health',
  title: 'Health',
  group: 'Bot',
  lives: true,
  waits: 'tools',
  async main(view) {
    const [{ version, readiness, problem, backlog }, status] = await Promise.all([
      view.ask('health'),
      view.ask('status').catch(() => undefined),
    ]);
    const state =
      readiness === undefined
        ? html`<p class="banner no">
            No bot runs on this data directory. What is shown comes from its store.
          </p>`
        : readiness.ready
          ? html`<p class="banner yes">The bot is ready.</p>`
          : html`<p class="banner no">The bot is not ready.</p>`;
    const store = readiness?.store;
    const facts: readonly (readonly [string, string | number | Html | undefined])[] = [
      ['Version', version],
      [
        'Store',
        problem === undefined && store?.ok !== false
          ? badge('yes', 'works')
          : (problem ?? (store?.ok === false ? `${store.reason} (${ago(store.sinceSeconds)})` : '')),
      ],
      [
        'Data directory',
        readiness === undefined
          ? undefined
          : readiness.data.ok
            ? badge('yes', 'works')
            : readiness.data.reason,
      ],
      ['Model', modelOf(readiness)],
      ['Messages not answered yet', backlog?.inboxWaiting],
      ['Dead letters', backlog?.inboxDead],
      ['Parts of answers not sent yet', backlog?.outboxWaiting],
    ];
    const rows = facts.flatMap(([what, value]) =>
      value === undefined ? [] : [[rowHead(what), cell(value)]],
    );
    return html`${state}${table('Facts', ['What', 'State'], rows, '')}${channelsOf(readiness)}${
      status === undefined ? nothing : servers(status, view)
    }`;
  },
};

function channelsOf(readiness: Readiness | undefined): Html {
  if (readiness === undefined) return nothing;
  const rows = Object.entries(readiness.channels).map(([name, { state, lastEventSeconds }]) => [
    rowHead(name),
    cell(badge(state === 'started' ? 'yes' : 'no', state)),
    cell(lastEventSeconds === null ? 'none yet' : ago(lastEventSeconds)),
  ]);
  return html`<h2>Channels</h2>
    ${table('Channels', ['Channel', 'State', 'Last event'], rows, 'No channel is configured.')}`;
}

function modelOf(readiness: Readiness | undefined): string | undefined {
  if (readiness === undefined) return undefined;
  const { model } = readiness;
  return model === null ? 'not asked yet' : `${model.alias}: ${model.outcome}, ${ago(model.ageSeconds)}`;
}

/** A rough age, so that the page does not change every second. */
function ago(seconds: number): string {
  if (seconds < 60) return 'within the last minute';
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3_600)} h ago`;
}
