import { shownVersion } from '../operator/look/skill-quality.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { badge, cell, code, conversationLink, person, table, time } from './elements.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Page } from './page.ts';
import { paged } from './paged.ts';

/** Thumbs under answers: what people think of each version of a skill, and what they say was wrong (U17). */
export const feedbackPage: Page = {
  path: '/feedback',
  title: 'Feedback',
  group: 'Bot',
  async main(view) {
    const quality = await view.ask('skill quality');
    const all = (await view.ask('feedback list', {})).toReversed();
    const { rows, filter, pages } = paged(view, all, {
      one: 'thumb',
      words: ({ id, sender, conversation, skills, thumb, reason }) =>
        [
          id,
          sender,
          view.names.person(sender),
          conversation,
          thumb,
          reason,
          ...skills.map(({ name }) => name),
        ].join(' '),
    });
    const versions = quality.map(({ skill, version, up, down, first, last }) => [
      cell(html`${skillLink(skill)} ${versionOf(version)}`),
      cell(up),
      cell(down),
      cell(time(view, first)),
      cell(time(view, last)),
    ]);
    const thumbs = rows.map(({ id, at, thumb, sender, conversation, skills, reason }) => [
      cell(
        html`${thumb === 'up' ? badge('yes', 'up') : badge('no', 'down')} <small class="id">${id}</small>`,
      ),
      cell(person(view, sender)),
      cell(conversationLink(view, conversation)),
      cell(html`${skills.map(({ name, version }) => html`${skillLink(name)} ${versionOf(version)} `)}`),
      cell(reason ?? ''),
      cell(time(view, at)),
    ]);
    return html`<h2>Versions of skills</h2>
      ${table(
        'Versions of skills',
        ['Skill', 'Up', 'Down', 'First', 'Last'],
        versions,
        'No answer of a skill is rated yet. People do it with a thumb under the answer.',
      )}
      <h2>Thumbs</h2>
      <p>
        ${code(`${skilletHere()} feedback to-test ID`)} makes a thumb down a test of its skill, after you have
        read it.
      </p>
      ${filter}${table(
        'Thumbs',
        ['Thumb', 'Person', 'Conversation', 'Skills', 'What was wrong', 'When'],
        thumbs,
        'Nobody has rated an answer yet.',
      )}${pages}`;
  },
};

function skillLink(name: string): Html {
  return html`<a href="/skill?name=${encodeURIComponent(name)}">${name}</a>`;
}

function versionOf(version: string): Html {
  return html`<small class="id">${version.slice(0, shownVersion)}</small>`;
}
