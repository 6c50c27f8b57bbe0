import { html, type Html } from '../lib/text/html.ts';

export type Bar = Readonly<{ label: string; value: number; shown: string }>;

const [width, height] = [700, 100];
const mostLabels = 6;

/**
 * Columns over time, as an image that also has its figures in words. It needs no script and no inline style. Its labels
 * are beside it, so that they keep their size in a narrow window.
 */
export function barChart(title: string, bars: readonly Bar[]): Html {
  const most = Math.max(1e-9, ...bars.map(({ value }) => value));
  const step = width / Math.max(1, bars.length);
  const columns = bars.map(({ label, value, shown }, at) => {
    const tall = Math.max(value > 0 ? 2 : 0, (value / most) * height);
    return html`<g
      ><title>${label}: ${shown}</title
      ><rect
        x="${(at * step + step * 0.14).toFixed(1)}"
        y="${(height - tall).toFixed(1)}"
        width="${(step * 0.72).toFixed(1)}"
        height="${tall.toFixed(1)}"
      ></rect
    ></g>`;
  });
  const highest = bars.find(({ value }) => value === most);
  const parts = Math.min(mostLabels, bars.length) - 1;
  const labels = Array.from({ length: parts + 1 }, (_, at) => {
    const bar = bars[Math.round((at * (bars.length - 1)) / Math.max(1, parts))];
    return bar?.label ?? '';
  });
  return html`<figure class="chart">
    <svg
      role="img"
      aria-label="${title}: ${bars.map(({ label, shown }) => `${label} ${shown}`).join(', ')}"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
    >
      ${columns}
    </svg>
    <figcaption aria-hidden="true">${labels.map((label) => html`<span>${label.slice(5)}</span>`)}</figcaption>
    ${highest === undefined ? '' : html`<p class="hint">Most: ${highest.shown} on ${highest.label}</p>`}
  </figure>`;
}

/** A bar beside a figure that says the same, so it is hidden from screen readers. Close to a limit it is red. */
export function share(value: number, most: number, isLimit = false): Html {
  const long = most <= 0 ? 0 : Math.min(100, Math.max(value > 0 ? 1 : 0, (value / most) * 100));
  const isFull = isLimit && most > 0 && value >= most * 0.8;
  return html`<svg class="share" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none">
    <rect class="back" width="100" height="8"></rect>
    <rect class="${isFull ? 'full' : 'bar'}" width="${long.toFixed(1)}" height="8"></rect>
  </svg>`;
}
