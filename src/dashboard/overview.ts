import type { BotStatus } from '../operator/status-of.ts';
import { readLines, type AuditLine } from './audit-lines-table.ts';
import { barChart } from './bar-chart.ts';
import { budgetLine } from './budget-line.ts';
import { cell, figure, badge, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { workTable } from './now.ts';
import type { Page, PageView } from './page.ts';
import { plainCode } from './plain-codes.ts';
import { daysUpTo, dollars, number, sumsBy, today, usedBetween } from './usage.ts';

const [dayMs, searched, chartDays] = [86_400_000, 2_000, 14];

/** Is it well, what waits, what did it cost, what was refused. */
export const overviewPage: Page = {
  path: '/',
  title: 'Overview',
  group: 'Today',
  lives: true,
  async main(view) {
    const { ask } = view;
    const [status, work, lines] = await Promise.all([
      ask('status'),
      ask('work list'),
      ask('audit tail', { lines: searched }),
    ]);
    const running = work.filter(({ state }) => state !== 'waiting');
    return html`${wellness(status, view)}
      <h2>Waiting for you</h2>
      ${waiting(view)}
      <h2>Being answered now</h2>
      ${workTable('Being answered now', running, view, 'Nothing runs at the moment.')}
      <h2>Costs</h2>
      ${await budgetLine(view)} ${await chart(view)}
      <h2>Refused in the last 24 hours</h2>
      ${refused(readLines(lines), view)}`;
  },
};

type Part = Readonly<{ name: string; isWell: boolean; said: string | Html }>;

function wellness({ process, backlog, servers, plugins }: BotStatus, view: PageView): Html {
  if (process === undefined)
    return html`<p class="banner no">
      <strong>No bot runs on this data directory.</strong> What is shown comes from its store.
    </p>`;
  const { ready, store, data, channels, model } = process.readiness;
  const away = servers.filter(({ is }) => is === 'away').map(({ name }) => name);
  const parts: readonly Part[] = [
    ...Object.entries(channels).map(([name, { state }]) => ({
      name,
      isWell: state === 'started',
      said: state,
    })),
    ...(model === null
      ? []
      : [{ name: `model ${model.alias}`, isWell: model.outcome === 'ok', said: model.outcome }]),
    { name: 'store', isWell: store.ok, said: store.ok ? 'works' : store.reason },
    { name: 'data directory', isWell: data.ok, said: data.ok ? 'works' : data.reason },
    ...(away.length === 0 ? [] : [{ name: 'MCP servers', isWell: false, said: `away: ${away.join(', ')}` }]),
    ...(plugins.length === 0 ? [] : [{ name: 'plugins', isWell: false, said: plugins.join(' ') }]),
  ];
  const isWell = ready && parts.every((part) => part.isWell);
  const up = time(view, view.now - process.upSeconds * 1_000);
  return html`<div class="banner ${isWell ? 'yes' : 'no'}">
    <p>
      <strong>${isWell ? 'All is well.' : 'Something needs a look.'}</strong> Started ${up},
      ${number(backlog.inboxWaiting)} messages in work. <a href="/health">Health</a>
    </p>
    <ul class="parts">
      ${parts.map((part) => html`<li>${part.name} ${badge(part.isWell ? 'yes' : 'no', part.said)}</li>`)}
    </ul>
  </div>`;
}

function waiting({ waits }: PageView): Html {
  const all: readonly (readonly [count: number, one: string, many: string, address: string])[] = [
    [waits.approvals, 'approval', 'approvals', '/approvals'],
    [waits.people, 'person to approve', 'people to approve', '/people'],
    [waits.skills, 'skill to enable', 'skills to enable', '/skills'],
    [waits.letters, 'failed message', 'failed messages', '/letters'],
    [waits.tools, 'MCP tool to agree to', 'MCP tools to agree to', '/health'],
  ];
  const open = all.filter(([count]) => count > 0);
  if (open.length === 0) return html`<p class="empty">Nothing waits for you.</p>`;
  return html`<div class="tiles">
    ${open.map(
      ([count, one, many, address]) =>
        html`<a class="tile" href="${address}"
          ><span class="value">${count}</span> <span class="name">${count === 1 ? one : many}</span></a
        >`,
    )}
  </div>`;
}

async function chart(view: PageView): Promise<Html> {
  const days = daysUpTo(today(view), chartDays);
  const rows = await usedBetween(view, days[0] ?? '', days.at(-1) ?? '');
  if (rows.length === 0) return html`<p class="empty">No model was used in the last ${chartDays} days.</p>`;
  const sums = new Map(sumsBy(rows, ({ day }) => day).map((one) => [one.key, one]));
  const bars = days.map((label) => {
    const { usd, requests } = sums.get(label) ?? { usd: 0, requests: 0 };
    return { label, value: requests, shown: `${number(requests)} requests, ${dollars(usd)}` };
  });
  return html`<h3>Model requests in the last ${chartDays} days</h3>
    ${barChart('Model requests by day', bars)}
    <p><a href="/costs">All costs</a></p>`;
}

/** How a line of the audit says no. Undefined: it does not. */
function refusalIn(line: AuditLine): string | undefined {
  const event = String(line['event']);
  const code = typeof line['code'] === 'string' ? line['code'] : undefined;
  if (event === 'message_refused' || event === 'skill_refused') return code ?? event;
  if (event === 'tool_call_blocked') return 'TOOL_NOT_ALLOWED';
  const policy = String(line['policy']);
  return event === 'tool_call' && policy.startsWith('TOOL_') ? policy : undefined;
}

function refused(lines: readonly AuditLine[], view: PageView): Html {
  const since = new Date(view.now - dayMs).toISOString();
  const found = lines.flatMap((line) => {
    const why = String(line['at']) >= since ? refusalIn(line) : undefined;
    return why === undefined ? [] : [{ event: String(line['event']), why, at: String(line['at']) }];
  });
  const rows = [...Map.groupBy(found, ({ event, why }) => `${event} ${why}`).values()].map((of) => {
    const [{ event, why } = { event: '', why: '' }] = of;
    const newest =
      of
        .map(({ at }) => at)
        .toSorted()
        .at(-1) ?? '';
    const address = `/audit?event=${encodeURIComponent(event)}&words=${encodeURIComponent(why)}`;
    return [
      cell(html`<a href="${address}">${plainCode(event)}</a>`),
      cell(html`<span title="${why}">${plainCode(why)}</span>`),
      figure(of.length),
      cell(newest === '' ? nothing : time(view, Date.parse(newest))),
    ];
  });
  return table('Refused', ['What', 'Why', 'How often', 'Last'], rows, 'Nothing was refused.');
}
