import { button } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { menuGroups, type Done, type Page, type PageView } from './page.ts';
import type { Waits } from './waits.ts';

/** The whole page around its content. `notice` says what the last form did. */
export function frame(
  page: Page,
  all: readonly Page[],
  view: PageView,
  { main, notice }: Readonly<{ main: Html; notice?: Done }>,
): Html {
  const { config, isRunning, acts, query, waits } = view;
  const search = query.toString();
  const address = `${page.path}${search === '' ? '' : `?${search}`}`;
  const live = page.lives === true ? html` data-live="/live?page=${encodeURIComponent(address)}"` : nothing;
  const heading = page.heading?.(view) ?? page.title;
  const mode =
    acts === undefined
      ? 'Read-only. Start with --act to change things here.'
      : acts.as === undefined
        ? 'Changes are on. Start with --as to answer approvals.'
        : `Changes are on. Approvals are answered as ${view.names.person(acts.as) ?? acts.as}.`;
  return whole(
    `${countIn(waits)}${heading} · ${config.bot.name}`,
    html`<a class="skip" href="#main">Skip to the content</a>
      <header>
        <p class="bot">
          <strong>${config.bot.name}</strong>
          <span class="mark ${isRunning ? 'yes' : 'no'}">${isRunning ? 'running' : 'stopped'}</span>
        </p>
        <button class="plain" id="fold" type="button" popovertarget="menu">Menu</button>
        <nav id="menu" aria-label="Pages" popover>${menu(page.under ?? page.path, all, waits)}</nav>
      </header>
      <main id="main" tabindex="-1">
        <h1>${heading}</h1>
        ${notice === undefined ? nothing : noticeOf(notice, view)}
        <div id="content" ${live}>${main}</div>
      </main>
      <footer><p>${mode}</p></footer>`,
  );
}

function noticeOf({ text, undo }: Done, view: PageView): Html {
  const back =
    undo === undefined
      ? nothing
      : button(view, undo.action, { label: 'Undo', about: text, fields: undo.fields });
  return html`<div class="notice">
    <p role="status">${text}</p>
    ${back}
  </div>`;
}

/** The pages in menuGroups, with how much waits on each. */
export function menu(here: string, all: readonly Page[], waits: Waits): Html {
  const link = ({ path, title, waits: what }: Page): Html => {
    const count = what === undefined ? 0 : waits[what];
    return html`<li>
      <a href="${path}" ${path === here ? html` aria-current="page"` : nothing}
        ><span>${title}</span
        >${count === 0 ? nothing : html`<span class="count">${count}<span class="unseen"> waiting</span></span>`}</a
      >
    </li>`;
  };
  return html`${menuGroups.map((name) => {
    const id = `menu-${name.toLowerCase()}`;
    return html`<p class="group" id="${id}">${name}</p>
      <ul aria-labelledby="${id}">
        ${all.filter(({ group }) => group === name).map(link)}
      </ul>`;
  })}`;
}

function countIn(waits: Waits): string {
  const sum = Object.values(waits).reduce((all, count) => all + count, 0);
  return sum === 0 ? '' : `(${sum}) `;
}

/** A page without a menu, for people without a session and after the link. */
export function plainPage(title: string, text: string, next?: string): Html {
  const head = next === undefined ? nothing : html`<meta http-equiv="refresh" content="0;url=${next}" />`;
  const link = next === undefined ? nothing : html`<p><a href="${next}">Continue</a></p>`;
  return whole(
    title,
    html`<main id="main" class="alone">
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
