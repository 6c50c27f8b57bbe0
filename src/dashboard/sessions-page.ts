import { button, cell, badge, table, time } from './elements.ts';
import { html } from '../lib/text/html.ts';
import type { Action, Page } from './page.ts';
import type { Sessions } from './sessions.ts';

export const sessionsPage: Page = {
  path: '/sessions',
  title: 'Sessions',
  group: 'Record',
  async main(view) {
    const rows = view.sessions.map(({ id, browser, since, seen, until, isOwn }) => [
      cell(html`${browserOf(browser)}${isOwn ? html` ${badge('yes', 'this browser')}` : ''}`),
      cell(time(view, since)),
      cell(time(view, seen)),
      cell(time(view, until)),
      cell(
        button(view, '/sessions/end', {
          ...{ label: isOwn ? 'Sign out' : 'End', about: `session ${id}`, fields: { id }, always: true },
        }),
      ),
    ]);
    return html`<p>
        Browsers that opened a link of this dashboard. All sessions end after twelve hours, and when the
        dashboard stops.
      </p>
      ${table('Sessions', ['Browser', 'Opened', 'Last seen', 'Ends', 'Action'], rows, '')}`;
  },
};

/** Ends a session. It needs no `--act`, because it changes nothing of the bot. */
export function endSession(end: Sessions['end']): Action {
  return {
    page: sessionsPage,
    always: true,
    act: async (form) =>
      end(form.get('id') ?? '') ? 'The session is ended.' : 'That session has ended already.',
  };
}

/** The browser and the system that a user agent names, such as `Firefox on Linux`. */
function browserOf(agent: string): string {
  const [browser] = ['Edg', 'Firefox', 'Chrome', 'Safari'].filter((name) => agent.includes(`${name}/`));
  const [system] = ['Android', 'iPhone', 'Windows', 'Mac OS', 'Linux'].filter((name) => agent.includes(name));
  if (browser === undefined) return agent === '' ? 'unknown browser' : agent.slice(0, 60);
  return `${browser === 'Edg' ? 'Edge' : browser}${system === undefined ? '' : ` on ${system}`}`;
}
