import { skilletHere } from '../core/skillet-here.ts';
import type { Check, Finding } from '../operator/doctor/finding.ts';
import { cell, code, badge, table } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Page } from './page.ts';

const tones = { error: 'no', warning: 'partly', note: 'quiet' } as const;
const levels = ['error', 'warning', 'note'] as const;

export const checksPage: Page = {
  path: '/checks',
  title: 'Doctor',
  group: 'Bot',
  async main({ examine }) {
    const checks = await examine();
    const findings = checks
      .flatMap((one) => one.findings)
      .toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
    const rows = checks.map((one) => [cell(worstOf(one)), cell(one.name), cell(one.said)]);
    return html`<p>
        What ${code(`${skilletHere()} doctor`)} says now. With ${code('--online')} it also asks the platforms
        and the model.
      </p>
      ${findings.length === 0 ? html`<p class="yes">Everything is in order.</p>` : findings.map(card)}
      <h2>All checks</h2>
      ${table('All checks', ['State', 'Check', 'Found'], rows, '')}`;
  },
};

function worstOf({ findings }: Check): Html {
  const worst = levels.find((level) => findings.some((one) => one.level === level));
  return worst === undefined ? badge('yes', 'fine') : badge(tones[worst], worst);
}

function card({ id, level, what, why, fix, path, line }: Finding): Html {
  const where =
    path === undefined
      ? nothing
      : html` <small class="id">${path}${line === undefined ? '' : `:${line}`}</small>`;
  return html`<section class="card finding">
    <h2>${badge(tones[level], level, id)} ${what}</h2>
    <p>${why}${where}</p>
    <p><strong>Fix:</strong> ${fix}</p>
  </section>`;
}
