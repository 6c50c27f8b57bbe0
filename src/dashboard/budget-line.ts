import { share } from './bar-chart.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { PageView } from './page.ts';
import { dollars, number, sumOf, today, usedBetween } from './usage.ts';

/** What was spent today and this month, beside the limit of a day for everything together (U10). */
export async function budgetLine(view: PageView): Promise<Html> {
  const day = today(view);
  const month = day.slice(0, 7);
  const rows = await usedBetween(view, `${month}-01`, day);
  const ofToday = sumOf(rows.filter((row) => row.day === day));
  const ofMonth = sumOf(rows);
  const { usdPerDay, tokensPerDay } = view.config.limits.global;
  const isPriced = ofMonth.usd !== undefined;
  const [used, limit] = isPriced ? [ofToday.usd ?? 0, usdPerDay] : [ofToday.tokens, tokensPerDay];
  const shown = (value: number): string => (isPriced ? dollars(value) : `${number(value)} tokens`);
  const ofLimit =
    limit === 0
      ? html`<p class="hint">No limit a day: see [limits.global].</p>`
      : html`${share(used, limit, true)}
          <p class="hint">${percent(used, limit)} of ${shown(limit)} a day, by [limits.global]</p>`;
  const days = Number(day.slice(8));
  const average = isPriced ? (ofMonth.usd ?? 0) / days : ofMonth.tokens / days;
  return html`<div class="tiles">
    <div class="tile">
      <p class="name">Today</p>
      <p class="value">${shown(used)}</p>
      ${ofLimit}
    </div>
    <div class="tile">
      <p class="name">This month</p>
      <p class="value">${shown(isPriced ? (ofMonth.usd ?? 0) : ofMonth.tokens)}</p>
      ${days < 2 ? nothing : html`<p class="hint">${shown(isPriced ? average : Math.round(average))} a day on average</p>`}
    </div>
  </div>`;
}

function percent(used: number, limit: number): string {
  const share = (used / limit) * 100;
  return share > 0 && share < 1 ? 'Less than 1 %' : `${Math.round(share)} %`;
}
