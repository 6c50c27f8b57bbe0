import { englishOrigin } from '../core/provenance.ts';
import { parseMarkdown } from '../lib/markdown/parse-markdown.ts';
import { plainStyle, renderText } from '../lib/markdown/render-text.ts';
import type { OutputOf } from '../operator/operations.ts';
import { button, buttons, cell, code, badge, person, conversationLink, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';
import { dollars } from './usage.ts';

type WaitingApproval = OutputOf<'approval list'>[number];
type WaitingMoney = OutputOf<'money list'>[number];

export const approvalsPage: Page = {
  path: '/approvals',
  title: 'Approvals',
  group: 'Today',
  lives: true,
  waits: 'approvals',
  async main(view) {
    const [open, money, rules] = await Promise.all([
      view.ask('approval list'),
      view.ask('money list'),
      view.ask('policy list'),
    ]);
    const isOpen = ({ expiresAt }: Readonly<{ expiresAt: number }>): boolean => expiresAt > view.now;
    const waiting = [
      ...open.filter(isOpen).map((approval) => card(approval, view)),
      ...money.filter(isOpen).map((one) => moneyCard(one, view)),
    ];
    return html`${waiting.length === 0 ? html`<p class="empty">Nothing waits for a yes. Calls that a rule of [policy] holds back appear here, and work that would pass a budget.</p>` : waiting}
      ${howToAnswer(view, waiting.length)}
      <h2>Standing approvals</h2>
      ${standing(view, rules)}`;
  },
};

function standing(view: PageView, rules: OutputOf<'policy list'>): Html {
  const { rows, filter, pages } = paged(view, rules, {
    one: 'standing approval',
    words: ({ tool, skill = '', chat, sender, by }) =>
      [tool, skill, chat, sender, by, view.names.person(sender), view.names.chat(chat)].join(' '),
  });
  const cells = rows.map(({ id, tool, skill, chat, sender, by, from, since, counts }) => [
    cell(
      html`${code(tool)}${counts ? nothing : html` ${badge('partly', 'no longer counts', 'The tool changed since')}`}`,
    ),
    cell(code(skill)),
    cell(conversationLink(view, chat)),
    cell(person(view, sender)),
    cell(html`${person(view, by)} ${time(view, since)}`),
    cell(englishOrigin(from)),
    cell(
      button(view, '/policy/revoke', {
        ...{ label: 'Revoke', about: `${tool} for ${view.names.person(sender) ?? sender}` },
        ...{ fields: { id, tool }, weight: 'danger' },
      }),
    ),
  ]);
  return html`${filter}${table(
    'Standing approvals',
    ['Tool', 'Skill', 'Chat', 'Person', 'Allowed by', 'From', 'Action'],
    cells,
    'No standing approvals. “Always” under a question in a chat makes one.',
  )}${pages}`;
}

function card(approval: WaitingApproval, view: PageView): Html {
  const { id, tool, skill, requester, conversation, askedAt, expiresAt, isDirect, fourEyes } = approval;
  const input = plain(approval.input);
  const as = view.acts?.as;
  const mayApprove = as === requester ? !fourEyes : !isDirect;
  const answer = (label: string, value: string, weight: 'main' | 'plain') =>
    button(view, '/approvals/answer', {
      ...{ label, about: `${tool}, ${id}`, fields: { id, answer: value }, weight },
    });
  return html`<section class="card ask" aria-labelledby="ask-${id}">
    <h2 id="ask-${id}">${skill === '' ? nothing : html`${code(skill)} wants to use `}${code(tool)}</h2>
    <p>
      For ${person(view, requester)} in ${conversationLink(view, conversation)}. Asked ${time(view, askedAt)},
      <strong>expires ${time(view, expiresAt)}</strong
      >.${fourEyes ? ' Another approver has to approve it.' : nothing}
    </p>
    ${
      input === ''
        ? html`<p>
            ${isDirect ? html`(direct) Only ${person(view, requester)} sees` : 'The chat shows'} what it is
            called with.
          </p>`
        : html`<pre tabindex="0" aria-label="What it is called with" role="group">${input}</pre>`
    }${
      as === undefined
        ? nothing
        : buttons([
            mayApprove ? answer('Approve', 'approve', 'main') : nothing,
            answer('Deny', 'deny', 'plain'),
          ])
    }
  </section>`;
}

function moneyCard(money: WaitingMoney, view: PageView): Html {
  const { id, skill, requester, conversation, askedAt, expiresAt, budget, spent, next, left, usd } = money;
  const answer = (label: string, value: string, weight: 'main' | 'plain') =>
    button(view, '/money/answer', {
      ...{ label, about: `more money, ${id}`, fields: { id, answer: value }, weight },
    });
  return html`<section class="card ask" aria-labelledby="ask-${id}">
    <h2 id="ask-${id}">${skill === '' ? 'An answer' : code(skill)} would pass a budget</h2>
    <p>
      For ${person(view, requester)} in ${conversationLink(view, conversation)}. Asked ${time(view, askedAt)},
      <strong>expires ${time(view, expiresAt)}</strong>. An owner or an approver decides.
    </p>
    <p>
      Budget: ${plain(budget)}. Spent: ${dollars(spent)}.
      ${next === 0 ? nothing : `The next step costs about ${dollars(next)}, all ${left} that may follow at most about ${dollars(next * left)}.`}
      A yes adds ${dollars(usd)}.
    </p>
    ${
      view.acts?.as === undefined
        ? nothing
        : buttons([answer(`Allow ${dollars(usd)}`, 'allow', 'main'), answer('Stop', 'stop', 'plain')])
    }
  </section>`;
}

function howToAnswer({ acts, isRunning }: PageView, waiting: number): Html {
  if (waiting === 0 || acts?.as !== undefined) return nothing;
  return html`<p class="hint">
    ${
      isRunning
        ? 'To answer here, start the dashboard with --act --as and the id of an approver.'
        : 'A running bot takes the answers: start it first.'
    }
  </p>`;
}

/** Answers an approval. It counts only from the requester or from `[policy] approvers` (T8). */
export const answerApproval: Action = {
  page: approvalsPage,
  async act(form, { ask, acts }) {
    const by = acts?.as;
    if (by === undefined) return 'Start the dashboard with --as and the id of an approver to answer.';
    const answer = form.get('answer') === 'approve' ? 'approve' : 'deny';
    return plain((await ask('approval answer', { id: form.get('id') ?? '', answer, by })).text);
  },
};

/** Answers a question about money. It counts only from owners and `[policy] approvers` (G6). */
export const answerMoney: Action = {
  page: approvalsPage,
  async act(form, { ask, acts }) {
    const by = acts?.as;
    if (by === undefined) return 'Start the dashboard with --as and the id of an approver to answer.';
    const answer = form.get('answer') === 'allow' ? 'allow' : 'stop';
    return plain((await ask('money answer', { id: form.get('id') ?? '', answer, by })).text);
  },
};

export const revokeRule: Action = {
  page: approvalsPage,
  asks: (form) => ({
    title: `Revoke the standing approval of ${form.get('tool') ?? 'this tool'}?`,
    text: 'The bot asks again before the next call. This can’t be undone here: the person can choose “Always” again when they are asked.',
    yes: 'Revoke',
  }),
  async act(form, { ask }) {
    const { tool } = await ask('policy revoke', form.get('id') ?? '');
    return `From now on I ask again before ${tool}.`;
  },
};

/** The plain text of what the chat shows as Markdown. */
function plain(markdown: string): string {
  const indented = { ...plainStyle, pre: (value: string) => value.replace(/^(?=.)/gm, '  ') };
  return renderText(parseMarkdown(markdown), indented);
}
