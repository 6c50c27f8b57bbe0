import { operatorZone } from '../core/local-time.ts';
import { firstOfForecast, monthForecast } from '../limits/costs.ts';
import { share } from './bar-chart.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { PageView } from './page.ts';
import { dollars, number, sumOf, sumsBy, today, usedBetween } from './usage.ts';

/** What was spent today and this month, beside the limits for everything together, and a forecast (U10, G6). */
export async function budgetLine(view: PageView): Promise<Html> {
  const day = today(view);
  const month = day.slice(0, 7);
  const zone = operatorZone(view.config);
  const rows = await usedBetween(view, firstOfForecast(view.now, zone), day);
  const ofToday = sumOf(rows.filter((row) => row.day === day));
  const ofMonth = sumOf(rows.filter((row) => row.day.startsWith(month)));
  const { usdPerDay, usdPerMonth, tokensPerDay } = view.config.limits.global;
  const isPriced = ofMonth.usd !== undefined;
  const [used, limit] = isPriced ? [ofToday.usd ?? 0, usdPerDay] : [ofToday.tokens, tokensPerDay];
  const shown = (value: number): string =>
    isPriced ? dollars(value) : `${number(Math.round(value))} tokens`;
  const byDay = new Map(
    sumsBy(rows, (row) => row.day).map(({ key, usd, tokens }) => [key, isPriced ? (usd ?? 0) : tokens]),
  );
  const { spent, atEnd } = monthForecast(byDay, view.now, zone);
  const forecast =
    atEnd === undefined
      ? nothing
      : html`<p class="hint">
          About ${shown(atEnd)} by the end of the month, if it continues like the last seven days
        </p>`;
  return html`<div class="tiles">
    <div class="tile">
      <p class="name">Today</p>
      <p class="value">${shown(used)}</p>
      ${ofLimit(used, limit, shown, 'day')}
    </div>
    <div class="tile">
      <p class="name">This month</p>
      <p class="value">${shown(spent)}</p>
      ${isPriced ? ofLimit(spent, usdPerMonth, shown, 'month') : nothing} ${forecast}
    </div>
  </div>`;
}

function ofLimit(
  used: number,
  limit: number,
  shown: (value: number) => string,
  period: 'day' | 'month',
): Html {
  if (limit === 0) return html`<p class="hint">No limit a ${period}: see [limits.global].</p>`;
  return html`${share(used, limit, true)}
    <p class="hint">${percent(used, limit)} of ${shown(limit)} a ${period}, by [limits.global]</p>`;
}

function percent(used: number, limit: number): string {
  const share = (used / limit) * 100;
  return share > 0 && share < 1 ? 'Less than 1 %' : `${Math.round(share)} %`;
}
