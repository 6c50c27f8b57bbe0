import { englishOrigin } from '../core/provenance.ts';
import type { OutputOf } from '../operator/operations.ts';
import { parseMarkdown } from '../lib/markdown/parse-markdown.ts';
import { plainStyle, renderText } from '../lib/markdown/render-text.ts';
import { button, cell, code, person, table, time } from './elements.ts';
import { html, nothing, type Html } from './html.ts';
import type { Action, Page, PageView } from './page.ts';

type WaitingApproval = OutputOf<'approval list'>[number];

export const approvalsPage: Page = {
  path: '/approvals',
  title: 'Approvals',
  lives: true,
  async main(view) {
    const [open, rules] = await Promise.all([view.ask('approval list'), view.ask('policy list')]);
    const waiting = open
      .filter(({ expiresAt }) => expiresAt > view.now)
      .map((approval) => card(approval, view));
    const standing = rules.map(({ id, tool, skill, chat, sender, by, from }) => [
      cell(code(tool)),
      cell(code(skill)),
      cell(code(chat)),
      cell(person(sender)),
      cell(person(by)),
      cell(englishOrigin(from)),
      cell(
        button(view, '/policy/revoke', { label: 'Revoke', about: `${tool} for ${sender}`, fields: { id } }),
      ),
    ]);
    return html`${waiting.length === 0 ? html`<p class="empty">Nothing waits for a yes.</p>` : waiting}
      ${howToAnswer(view, waiting.length)}
      <h2>Standing approvals</h2>
      ${table(
        'Standing approvals',
        ['Tool', 'Skill', 'Chat', 'Person', 'Allowed by', 'From', 'Action'],
        standing,
        'No standing approvals.',
      )}`;
  },
};

function card(approval: WaitingApproval, view: PageView): Html {
  const { id, tool, skill, requester, conversation, askedAt, expiresAt, isDirect, fourEyes } = approval;
  const input = plain(approval.input);
  const as = view.acts?.as;
  const mayApprove = as === requester ? !fourEyes : !isDirect;
  const answer = (label: string, value: string) =>
    button(view, '/approvals/answer', { label, about: `${tool}, ${id}`, fields: { id, answer: value } });
  return html`<section class="card" aria-labelledby="ask-${id}">
    <h2 id="ask-${id}">${skill === '' ? nothing : html`${code(skill)} wants to use `}${code(tool)}</h2>
    <p>
      For ${person(requester)} in ${code(conversation)}. Asked ${time(askedAt)}, expires
      ${time(expiresAt)}.${fourEyes ? ' Another approver has to approve it.' : nothing}
    </p>
    ${input === '' ? html`<p>${isDirect ? html`(direct) Only ${code(requester)} sees` : 'The chat shows'} what it is called with.</p>` : html`<pre tabindex="0">${input}</pre>`}${
      as === undefined
        ? nothing
        : html`<div class="buttons">
            ${mayApprove ? answer('Approve', 'approve') : nothing}${answer('Deny', 'deny')}
          </div>`
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
export const answerApproval: Action = async (form, { ask, acts }) => {
  const by = acts?.as;
  if (by === undefined) return 'Start the dashboard with --as and the id of an approver to answer.';
  const answer = form.get('answer') === 'approve' ? 'approve' : 'deny';
  return plain((await ask('approval answer', { id: form.get('id') ?? '', answer, by })).text);
};

export const revokeRule: Action = async (form, { ask }) => {
  const { tool } = await ask('policy revoke', form.get('id') ?? '');
  return `From now on I ask again before ${tool}.`;
};

/** The plain text of what the chat shows as Markdown. */
function plain(markdown: string): string {
  const indented = { ...plainStyle, pre: (value: string) => value.replace(/^(?=.)/gm, '  ') };
  return renderText(parseMarkdown(markdown), indented);
}
