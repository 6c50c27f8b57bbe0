import { skilletHere } from '../core/skillet-here.ts';
import type { OutputOf } from '../operator/operations.ts';
import { button, buttons, cell, code, facts, badge, person, table } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';

type SkillRow = OutputOf<'skill all'>['skills'][number];

export const skillsPage: Page = {
  path: '/skills',
  title: 'Skills',
  group: 'Bot',
  waits: 'skills',
  async main(view) {
    const { skills, problems } = await view.ask('skill all');
    const { rows, filter, pages } = paged(view, skills, {
      one: 'skill',
      words: ({ name, description, origin }) => `${name} ${description} ${origin}`,
    });
    const cells = rows.map((skill) => [
      cell(html`<a href="${addressOf(skill.name)}">${skill.name}</a> <small>${skill.origin}</small>`),
      cell(skill.description),
      cell(stateOf(skill)),
      cell(whereOf(skill)),
    ]);
    return html`${
      problems.length === 0
        ? nothing
        : html`<h2>Not loaded</h2>
            <ul>
              ${problems.map(({ code: id, message, path }) => html`<li>${badge('no', message, id)} <small>${path}</small></li>`)}
            </ul>
            <h2>Loaded</h2>`
    }${filter}${table(
      'Skills',
      ['Skill', 'What it does', 'State', 'Where'],
      cells,
      html`There are no skills. Make one with ${code(`${skilletHere()} skill new`)}, or install some with
      ${code(`${skilletHere()} skill add owner/name`)}.`,
    )}${pages}`;
  },
};

function addressOf(name: string): string {
  return `/skill?name=${encodeURIComponent(name)}`;
}

function stateOf({ isEnabled, isApproved, lacks, missingEnv, diagnostics }: SkillRow): Html {
  if (!isApproved) return badge('partly', 'waits for you', 'The bot wrote it, and nobody has enabled it yet');
  if (!isEnabled) return badge('quiet', 'off');
  if (lacks) return badge('no', 'lacks programs');
  if (missingEnv.length > 0) return badge('partly', `needs ${missingEnv.join(', ')}`);
  const worst = diagnostics.find(({ level }) => level !== 'note');
  return worst === undefined ? badge('yes', 'on') : badge('partly', 'on, with a warning', worst.message);
}

function whereOf({ chatTypes, chats, users, isSensitive }: SkillRow): Html {
  const where = chatTypes.length === 3 ? 'everywhere' : chatTypes.join(', ') || 'nowhere';
  const only = [
    ...(chats === undefined ? [] : [chats.length === 1 ? '1 chat' : `${chats.length} chats`]),
    ...(users === undefined
      ? []
      : [users.length === 0 ? 'nobody' : users.length === 1 ? '1 person' : `${users.length} people`]),
  ].join(', ');
  return html`${where}${only === '' ? nothing : html` <small>only ${only}</small>`}${isSensitive ? html` ${badge('quiet', 'sensitive')}` : nothing}`;
}

export const skillPage: Page = {
  path: '/skill',
  title: 'Skill',
  under: '/skills',
  heading: ({ query }) => query.get('name') ?? 'Skill',
  async main(view) {
    const name = view.query.get('name') ?? '';
    const { skills } = await view.ask('skill all');
    const skill = skills.find((one) => one.name === name);
    if (skill === undefined)
      return html`<p class="empty">There is no skill ${code(name)}. <a href="/skills">All skills</a></p>`;
    const { text, files, isCut } = await view.ask('skill text', name);
    return html`<p><a href="/skills">All skills</a></p>
      <p>${stateOf(skill)} ${skill.description}</p>
      ${decideButtons(skill, view)}
      ${facts([
        ['Origin', skill.origin],
        ['File', html`<small class="id">${skill.path}</small>`],
        [
          'Installed from',
          skill.pin &&
            `${skill.pin.source}${skill.pin.commit === undefined ? '' : ` at ${skill.pin.commit.slice(0, 12)}`}`,
        ],
        ['Version', skill.version],
        ['Where', whereOf(skill)],
        ['Only in', skill.chats?.map((id) => view.names.chat(id) ?? id).join(', ')],
        ['Only for', skill.users && html`${skill.users.map((id) => html`${person(view, id)} `)}`],
        ['Tools', skill.allowedTools?.join(', ')],
        ['May reach', skill.network.join(', ')],
        ['Linked systems', skill.capabilities.join(', ')],
        ['Needs', skill.missingEnv.join(', ')],
        ['Files', files.length === 0 ? undefined : `${files.join(', ')}${isCut ? ', …' : ''}`],
      ])}
      ${skill.diagnostics.map(({ level, code: id, message }) => html`<p>${badge(level === 'error' ? 'no' : 'partly', message, id)}</p>`)}
      <h2>Instructions</h2>
      <pre tabindex="0" role="group" aria-label="Instructions">${text}</pre>
      <p class="hint">
        ${code(`[skills.${name}] enabled = false`)} in config.toml turns it off.
        ${code(`${skilletHere()} skill test ${name}`)} runs its tests.
      </p>`;
  },
};

function decideButtons({ name, isApproved }: SkillRow, view: PageView): Html {
  if (isApproved) return nothing;
  return html`<p>The bot wrote it. Read its instructions below before you enable it.</p>
    ${buttons([
      button(view, '/skills/enable', { label: 'Enable', about: name, fields: { name }, weight: 'main' }),
      button(view, '/skills/discard', { label: 'Discard', about: name, fields: { name }, weight: 'danger' }),
    ])}`;
}

/** Decides over a skill that the bot wrote (D9). */
export function decideWritten(to: 'enable' | 'discard'): Action {
  const act: Action = {
    page: skillsPage,
    async act(form, { ask }) {
      const { name, outcome } = await ask(`skill ${to}`, form.get('name') ?? '');
      return outcome === 'restored' ? `${name} is as it was before.` : `${name} is ${outcome}.`;
    },
  };
  if (to === 'enable') return act;
  return {
    ...act,
    asks: (form) => ({
      title: `Discard the skill ${form.get('name') ?? ''}?`,
      text: 'Its files are deleted, and this can’t be undone. If an enabled version came before, that one is back.',
      yes: 'Discard',
    }),
  };
}
