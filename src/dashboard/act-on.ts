import { OperatorError } from '../core/errors.ts';
import { sureForm } from './elements.ts';
import { frame } from './frame.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Action, Done, PageView } from './page.ts';
import { pages } from './pages.ts';

type Acted =
  Readonly<{ kind: 'question'; page: Html }> | Readonly<{ kind: 'done'; done: Done; back: string }>;

/** Does what a form says, or asks first. What went wrong is said on the page that the form came from. */
export async function actOn(
  action: Action,
  { pathname, form }: Readonly<{ pathname: string; form: URLSearchParams }>,
  view: PageView,
): Promise<Acted> {
  const back = backTo(action, form.get('back') ?? '');
  if (action.asks !== undefined && form.get('sure') !== 'yes') {
    const { title, text, yes } = action.asks(form, view);
    const main = html`<div class="card">
      <p>${text}</p>
      ${sureForm(pathname, form, { yes, back })}
    </div>`;
    const page = frame(
      { ...action.page, title, heading: () => title, lives: undefined },
      pages,
      { ...view, query: new URLSearchParams() },
      { main },
    );
    return { kind: 'question', page };
  }
  const done = await action.act(form, view).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error;
    return error.message;
  });
  return { kind: 'done', done: typeof done === 'string' ? { text: done } : done, back };
}

/** The page with the filter that it had. Any other address leads to the page itself. */
function backTo({ page: { path } }: Action, asked: string): string {
  const url = asked.startsWith('/') ? URL.parse(asked, 'http://127.0.0.1') : null;
  if (url?.origin !== 'http://127.0.0.1' || !pages.some((page) => page.path === url.pathname)) return path;
  return `${url.pathname}${url.search}`;
}
