import { localDay, operatorZone } from '../core/local-time.ts';
import { skilletHere } from '../core/skillet-here.ts';
import type { WorkRow } from '../operator/list-work.ts';
import type { BotStatus } from '../operator/status-of.ts';
import { auditPageTable, readLines } from './audit.ts';
import { cell, code, person, table, time } from './elements.ts';
import { html, nothing, type Html } from './html.ts';
import type { Page, PageView } from './page.ts';

const recentLines = 25;
/** Events that are no decisions about somebody's work. */
const others: ReadonlySet<string> = new Set(['config_changed', 'skills_changed', 'lines_missing']);

export const nowPage: Page = {
  path: '/',
  title: 'Now',
  lives: true,
  async main(view) {
    const { ask, now } = view;
    const [work, asks, lines, status] = await Promise.all([
      ask('work list'),
      ask('approval list'),
      ask('audit tail', { lines: recentLines * 2 }),
      ask('status'),
    ]);
    const open = asks.filter(({ expiresAt }) => expiresAt > now).length;
    const running = work.filter(({ state }) => state !== 'waiting');
    const waiting = work.filter(({ state }) => state === 'waiting');
    const decisions = readLines(lines)
      .filter(({ event }) => !others.has(String(event)))
      .slice(-recentLines)
      .toReversed();
    return html`${
        open === 0
          ? nothing
          : html`<p class="notice">
              <a href="/approvals">${open === 1 ? 'One approval waits' : `${open} approvals wait`}</a>
            </p>`
      }
      <h2>Being answered</h2>
      ${workTable('Being answered', running, 'Nothing runs.')}
      <h2>Waiting in a queue</h2>
      ${workTable('Waiting in a queue', waiting, 'Nothing waits.')} ${servers(status)}
      <h2>Conversations today</h2>
      ${await conversations(view)}
      <h2>Latest calls and decisions</h2>
      ${auditPageTable(decisions, 'Nothing was recorded yet.')}`;
  },
};

/** The MCP servers of a running bot, and what is wrong with plugins. */
function servers({ servers: all, plugins }: BotStatus): Html {
  if (all.length === 0 && plugins.length === 0) return nothing;
  const ofServers = all.map(({ name, is, since, why, tools, waiting }) => [
    cell(code(name)),
    cell(
      html`<span class="${is === 'away' ? 'no' : 'yes'}">${is}</span
        >${why === undefined ? nothing : html` ${why}`}`,
    ),
    cell(time(since)),
    cell(tools),
    cell(waiting === 0 ? nothing : html`${waiting}, see ${code(`${skilletHere()} mcp list`)}`),
  ]);
  const title = 'MCP servers and plugins';
  return html`<h2>${title}</h2>
    ${plugins.map((problem) => html`<p class="no">${problem}</p>`)}
    ${all.length === 0 ? nothing : table(title, ['Server', 'State', 'Since', 'Tools', 'Wait until you agree'], ofServers, '')}`;
}

function workTable(label: string, work: readonly WorkRow[], empty: string): Html {
  const rows = work.map((one) => [
    cell(person(one.sender, one.name)),
    cell(code(one.queue)),
    cell(
      one.kind === 'run'
        ? html`skill ${code(one.skill)}`
        : one.kind === 'result'
          ? `result of ${one.skill}`
          : one.kind,
    ),
    cell(stateOf(one)),
    cell(time(one.since)),
    cell(calls(one)),
  ]);
  return table(label, ['Person', 'Conversation', 'Work', 'State', 'Since', 'Tool calls'], rows, empty);
}

function stateOf({ state, asks, tries, error }: WorkRow): Html {
  const word = asks === undefined ? state : html`<a href="/approvals">waiting for a yes</a>`;
  return html`${word}${tries === 0 ? nothing : html` <small>failed ${tries} times: ${error}</small>`}`;
}

function calls({ calls }: WorkRow): Html {
  if (calls.length === 0) return nothing;
  const words = { running: 'partly', done: 'yes', failed: 'no' } as const;
  return html`<ol>
    ${calls.map(
      ({ tool, state, at }) =>
        html`<li>${code(tool)} <span class="${words[state]}">${state}</span> ${time(at)}</li>`,
    )}
  </ol>`;
}

async function conversations({ ask, config, now }: PageView): Promise<Html> {
  const rows = await ask('stats', localDay(now, operatorZone(config)));
  const places = [...Map.groupBy(rows, ({ conversation }) => conversation)].map(([conversation, of]) => [
    cell(code(conversation)),
    cell([...new Set(of.map(({ sender }) => sender))].join(', ')),
    cell([...new Set(of.map(({ skill }) => skill).filter((skill) => skill !== ''))].join(', ')),
    cell(of.reduce((sum, { requests }) => sum + requests, 0)),
  ]);
  const headings = ['Conversation', 'People', 'Skills', 'Model requests'];
  return table('Conversations today', headings, places, 'No model was used today.');
}
