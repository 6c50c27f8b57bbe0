import { skilletHere } from '../core/skillet-here.ts';
import type { WorkRow } from '../operator/list-work.ts';
import type { BotStatus } from '../operator/status-of.ts';
import { auditLinesTable, readLines } from './audit-lines-table.ts';
import { cell, code, figure, badge, person, conversationLink, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Page, PageView } from './page.ts';

const recentLines = 25;
/** Events that are no decisions about somebody's work. */
const others: ReadonlySet<string> = new Set(['config_changed', 'skills_changed', 'lines_missing']);

export const nowPage: Page = {
  path: '/now',
  title: 'Activity',
  group: 'Today',
  lives: true,
  async main(view) {
    const { ask } = view;
    const [work, lines, status] = await Promise.all([
      ask('work list'),
      ask('audit tail', { lines: recentLines * 2 }),
      ask('status'),
    ]);
    const running = work.filter(({ state }) => state !== 'waiting');
    const waiting = work.filter(({ state }) => state === 'waiting');
    const decisions = readLines(lines)
      .filter(({ event }) => !others.has(String(event)))
      .slice(-recentLines)
      .toReversed();
    return html`<h2>Being answered</h2>
      ${workTable('Being answered', running, view, 'Nothing runs.')}
      <h2>Waiting in a queue</h2>
      ${workTable('Waiting in a queue', waiting, view, 'There are no unanswered messages.')}
      ${servers(status, view)}
      <h2>Latest calls and decisions</h2>
      ${auditLinesTable(view, decisions, 'Nothing was recorded yet. Write to the bot, and what it does appears here.')}`;
  },
};

/** The MCP servers of a running bot, and what is wrong with plugins. */
export function servers({ servers: all, plugins }: BotStatus, view: PageView): Html {
  if (all.length === 0 && plugins.length === 0) return nothing;
  const ofServers = all.map(({ name, is, since, why, tools, waiting }) => [
    cell(code(name)),
    cell(html`${badge(is === 'away' ? 'no' : 'yes', is)} ${why ?? ''}`),
    cell(time(view, since)),
    figure(tools),
    cell(waiting === 0 ? nothing : html`${waiting}, see ${code(`${skilletHere()} mcp list`)}`),
  ]);
  const title = 'MCP servers and plugins';
  return html`<h2>${title}</h2>
    ${plugins.map((problem) => html`<p class="no">${problem}</p>`)}
    ${all.length === 0 ? nothing : table(title, ['Server', 'State', 'Since', 'Tools', 'Wait until you agree'], ofServers, '')}`;
}

export function workTable(label: string, work: readonly WorkRow[], view: PageView, empty: string): Html {
  const rows = work.map((one) => [
    cell(person(view, one.sender, one.name)),
    cell(conversationLink(view, one.queue)),
    cell(
      one.kind === 'run'
        ? html`skill ${code(one.skill)}`
        : one.kind === 'result'
          ? `result of ${one.skill}`
          : one.kind,
    ),
    cell(stateOf(one)),
    cell(time(view, one.since)),
    cell(calls(one, view)),
  ]);
  return table(label, ['Person', 'Conversation', 'Work', 'State', 'Since', 'Tool calls'], rows, empty);
}

function stateOf({ state, asks, tries, error }: WorkRow): Html {
  const word =
    asks === undefined
      ? badge(state === 'running' ? 'yes' : 'quiet', state)
      : badge('partly', html`<a href="/approvals">waiting for a yes</a>`);
  return html`${word}${tries === 0 ? nothing : html` <small>failed ${tries} times: ${error}</small>`}`;
}

function calls({ calls }: WorkRow, view: PageView): Html {
  if (calls.length === 0) return nothing;
  const tones = { running: 'partly', done: 'yes', failed: 'no' } as const;
  return html`<ol class="calls">
    ${calls.map(
      ({ tool, state, at }) => html`<li>${code(tool)} ${badge(tones[state], state)} ${time(view, at)}</li>`,
    )}
  </ol>`;
}
