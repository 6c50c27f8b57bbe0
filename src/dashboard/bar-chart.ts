import { html, type Html } from './html.ts';

export type Bar = Readonly<{ label: string; value: number; shown: string }>;

const [width, height, left, bottom, top] = [720, 220, 8, 24, 18];

/** Columns over time, as an image that also has its figures in words. It needs no script and no inline style. */
export function barChart(title: string, bars: readonly Bar[]): Html {
  const most = Math.max(1e-9, ...bars.map(({ value }) => value));
  const step = (width - 2 * left) / Math.max(1, bars.length);
  const room = height - top - bottom;
  const every = Math.ceil(bars.length / 8);
  const columns = bars.map(({ label, value, shown }, at) => {
    const tall = Math.max(value > 0 ? 1 : 0, (value / most) * room);
    const x = left + at * step;
    return html`<g
      ><title>${label}: ${shown}</title
      ><rect
        x="${(x + step * 0.1).toFixed(1)}"
        y="${(top + room - tall).toFixed(1)}"
        width="${(step * 0.8).toFixed(1)}"
        height="${tall.toFixed(1)}"
        rx="2"
      ></rect
      >${
        at % every === 0
          ? html`<text x="${(x + step / 2).toFixed(1)}" y="${height - 6}" text-anchor="middle"
              >${label.slice(5)}</text
            >`
          : ''
      }</g
    >`;
  });
  const highest = bars.find(({ value }) => value === most);
  return html`<svg
    class="chart"
    role="img"
    aria-label="${title}: ${bars.map(({ label, shown }) => `${label} ${shown}`).join(', ')}"
    viewBox="0 0 ${width} ${height}"
  >
    <text x="${left}" y="12">${highest === undefined ? '' : `most: ${highest.shown}`}</text>
    <line x1="${left}" y1="${top + room}" x2="${width - left}" y2="${top + room}"></line>
    ${columns}
  </svg>`;
}

/** A bar beside a figure that says the same, so it is hidden from screen readers. */
export function share(value: number, most: number): Html {
  const long = most <= 0 ? 0 : Math.max(value > 0 ? 1 : 0, (value / most) * 100);
  return html`<svg class="share" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none">
    <rect width="${long.toFixed(1)}" height="8" rx="2"></rect>
  </svg>`;
}
