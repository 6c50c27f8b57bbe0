import { html, nothing, type Html } from './html.ts';
import type { Page, PageView } from './page.ts';

/** The whole page around its content. `notice` says what the last form did. */
export function frame(
  page: Page,
  all: readonly Page[],
  { config, isRunning, acts, query }: PageView,
  { main, notice }: Readonly<{ main: Html; notice?: string }>,
): Html {
  const links = all.map(
    ({ path, title }) =>
      html`<li>
        <a href="${path}" ${path === page.path ? html` aria-current="page"` : nothing}>${title}</a>
      </li>`,
  );
  const search = query.toString();
  const address = `${page.path}${search === '' ? '' : `?${search}`}`;
  const live = page.lives === true ? html` data-live="/live?page=${encodeURIComponent(address)}"` : nothing;
  const mode =
    acts === undefined
      ? 'Read-only. Start with --act to change things here.'
      : acts.as === undefined
        ? 'Changes are on. Start with --as to answer approvals.'
        : `Changes are on. Approvals are answered as ${acts.as}.`;
  return whole(
    `${page.title} · ${config.bot.name}`,
    html`<a class="skip" href="#main">Skip to the content</a>
      <header>
        <p class="bot">
          <strong>${config.bot.name}</strong>
          <span class="${isRunning ? 'yes' : 'no'}">${isRunning ? 'running' : 'stopped'}</span>
        </p>
        <nav aria-label="Pages">
          <ul>
            ${links}
          </ul>
        </nav>
      </header>
      <main id="main" tabindex="-1">
        <h1>${page.title}</h1>
        ${notice === undefined ? nothing : html`<p class="notice" role="status">${notice}</p>`}
        <div id="content" ${live}>${main}</div>
      </main>
      <footer><p>${mode}</p></footer>`,
  );
}

/** A page without navigation, for people without a session and after the link. */
export function plainPage(title: string, text: string, next?: string): Html {
  const head = next === undefined ? nothing : html`<meta http-equiv="refresh" content="0;url=${next}" />`;
  const link = next === undefined ? nothing : html`<p><a href="${next}">Continue</a></p>`;
  return whole(
    title,
    html`<main id="main">
      <h1>${title}</h1>
      <p>${text}</p>
      ${link}
    </main>`,
    head,
  );
}

function whole(title: string, body: Html, head: Html = nothing): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href="/page.css" />
        <link rel="icon" href="data:," />
        ${head}
        <script src="/page.js" defer></script>
      </head>
      <body>
        ${body}
      </body>
    </html>`;
}
