import { addTokens, aliasOf, noTokens, type Tokens } from '../core/model.ts';
import { costOf } from '../limits/costs.ts';
import type { PastTurn, TurnStep } from '../operator/look/list-turns.ts';
import { code, facts, badge, person, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Page, PageView } from './page.ts';
import { codeMark } from './plain-codes.ts';
import { dollars, number, total } from './usage.ts';

const step = 20;
const most = 200;

/** A conversation as a timeline of its turns. What people and the bot said is not shown (S8). */
export const conversationPage: Page = {
  path: '/conversation',
  title: 'Conversation',
  under: '/conversations',
  heading({ query, names }) {
    const key = query.get('id') ?? '';
    return names.place(key) ?? (key === '' ? 'Conversation' : key);
  },
  async main(view) {
    const key = view.query.get('id') ?? '';
    if (key === '')
      return html`<p class="empty">Choose one on the page of <a href="/conversations">conversations</a>.</p>`;
    const count = Math.min(most, Math.max(step, Number.parseInt(view.query.get('most') ?? '', 10) || step));
    const { turns, earlier } = await view.ask('turn list', { conversation: key, most: count });
    const address = `/conversation?id=${encodeURIComponent(key)}&most=${Math.min(most, count + step * 2)}`;
    return html`<p><a href="/conversations">All conversations</a></p>
      ${facts([
        ['Key', html`<small class="id">${key}</small>`],
        ['Audit', html`<a href="/audit?words=${encodeURIComponent(key)}">lines about it</a>`],
      ])}
      <p class="hint">What people and the bot say here is not shown.</p>
      ${
        turns.length === 0
          ? html`<p class="empty">No turn is kept here. It was started again with /new, or never had one.</p>`
          : turns.toReversed().map((turn) => turnOf(turn, view))
      }
      ${earlier > 0 && count < most ? html`<p><a class="button" href="${address}">Show earlier turns (${earlier})</a></p>` : nothing}`;
  },
};

function turnOf({ at, steps }: PastTurn, view: PageView): Html {
  const all = steps.flatMap(flat);
  const sender = steps.find((one) => one.kind === 'message')?.sender;
  const last = Math.max(at, ...all.map((one) => one.at));
  const calls = all.filter(({ kind }) => kind === 'call').length;
  return html`<section class="card turn">
    <h2>${sender === undefined ? 'Turn' : person(view, sender)} ${time(view, at)}</h2>
    <p class="hint">
      ${calls} ${calls === 1 ? 'call' : 'calls'}, ${view.times.length(last - at)},
      ${number(total(tokensOf(all)))} tokens, ${dollars(costIn(all, view))}
    </p>
    ${timeline(steps, view)}
  </section>`;
}

function flat(one: TurnStep): readonly TurnStep[] {
  return one.kind === 'call' ? [one, ...one.run.flatMap(flat)] : [one];
}

function tokensOf(steps: readonly TurnStep[]): Tokens {
  return steps.reduce((sum, one) => ('tokens' in one ? addTokens(sum, one.tokens) : sum), noTokens);
}

/** Undefined if no model has a price. */
function costIn(steps: readonly TurnStep[], { config }: PageView): number | undefined {
  const costs = steps.flatMap((one) =>
    'tokens' in one && one.model !== undefined
      ? (costOf(config, aliasOf(config.models, `model/${one.model}`), one.tokens) ?? [])
      : [],
  );
  return costs.length === 0 && steps.some((one) => 'tokens' in one)
    ? undefined
    : costs.reduce((sum, usd) => sum + usd, 0);
}

function timeline(steps: readonly TurnStep[], view: PageView): Html {
  return html`<ol class="timeline">
    ${steps.map((one) => html`<li class="${one.kind}">${stepOf(one, view)}</li>`)}
  </ol>`;
}

function stepOf(one: TurnStep, view: PageView): Html {
  switch (one.kind) {
    case 'message': {
      const files = one.files === 0 ? nothing : html` <small>${one.files} files</small>`;
      const who = one.sender === undefined ? nothing : html` from ${person(view, one.sender)}`;
      return html`<strong>${one.isUnattended ? 'Task' : 'Message'}</strong>${who}${files}
        ${time(view, one.at)}`;
    }
    case 'call':
      return callOf(one, view);
    case 'summary':
      return html`<strong>Summary</strong> of earlier turns ${spent(one, view)}`;
    case 'answer':
      return html`<strong>Answer</strong> ${spent(one, view)} ${time(view, one.at)}`;
    default:
      return html`Model ${spent(one, view)}`;
  }
}

function spent({ model, tokens }: Extract<TurnStep, { tokens: Tokens }>, { config }: PageView): Html {
  const usd =
    model === undefined ? undefined : costOf(config, aliasOf(config.models, `model/${model}`), tokens);
  const words = [...(model === undefined ? [] : [model]), `${number(total(tokens))} tokens`];
  return html`<small>${[...words, ...(usd === undefined ? [] : [dollars(usd)])].join(' · ')}</small>`;
}

type Call = Extract<TurnStep, { kind: 'call' }>;

const states = { done: ['yes', 'done'], failed: ['no', 'failed'], open: ['partly', 'no result'] } as const;

function callOf({ tool, skill, state, decision, run }: Call, view: PageView): Html {
  const [tone, word] = states[state];
  const what =
    skill === undefined
      ? code(tool)
      : html`Skill <a href="/skill?name=${encodeURIComponent(skill)}">${skill}</a>`;
  const decided =
    decision === undefined
      ? nothing
      : html`${decision.policy === undefined ? nothing : html`${codeMark(decision.policy)} `}${
            decision.approvedBy === undefined
              ? nothing
              : html`<small>by ${person(view, decision.approvedBy)}</small> `
          }${decision.codes.map((id) => html`${codeMark(id)} `)}<small
            >${[...(decision.risk === undefined ? [] : [`${decision.risk} risk`]), view.times.length(decision.durationMs)].join(' · ')}</small
          >`;
  return html`${what} ${badge(tone, word)} ${decided}${run.length === 0 ? nothing : timeline(run, view)}`;
}
