import type { AccessDecisions, SkillDecisions, Writer } from '../operator/access/access-decisions.ts';
import { chatOf, detail, lists, typeChoices, verdict } from './access.ts';
import { cell, checkbox, code, field, rowHead, search, select, table } from './elements.ts';
import { html, nothing, type Html } from './html.ts';
import { knownPlaces, writerAt } from './known-places.ts';
import type { Page, PageView } from './page.ts';

const kinds = [
  ['person', 'a person'],
  ['guest', 'a guest of another workspace'],
  ['chat', 'an anonymous admin or channel'],
  ['bot', 'a bot'],
] as const;

/**
 * Shows what access rules decide. Nothing runs and no model is asked, so no persona gets an env, account or token (S8).
 */
export const playgroundPage: Page = {
  path: '/playground',
  title: 'Playground',
  async main(view) {
    const known = await knownPlaces(view);
    const form = html`<p>Be anybody in any chat. The bot’s own gates decide; nothing is sent or run.</p>
      ${formOf(view)}${lists(known)}`;
    const writer = writerOf(view.query);
    if (writer === undefined) return form;
    return html`${form}${results(writer, await view.ask('access decisions', writer))}`;
  },
};

function formOf({ query }: PageView): Html {
  const of = (name: string): string => query.get(name) ?? '';
  const isNew = of('person') === '';
  return search('/playground', 'Who writes where', [
    field('person', 'Person', of('person'), { hint: 'telegram:42', list: 'people' }),
    select('kind', 'Who is', of('kind'), kinds),
    field('chat', 'Chat (empty: their direct message)', of('chat'), {
      hint: 'telegram:-100123',
      list: 'chats',
    }),
    select('type', 'Kind of chat', of('type'), typeChoices),
    checkbox('external', 'shared with another company', of('external') === 'yes'),
    checkbox('addressed', 'the message is for the bot', isNew || of('addressed') === 'yes'),
  ]);
}

/** The writer that the form describes. Undefined before a person is chosen. */
function writerOf(query: URLSearchParams): Writer | undefined {
  const sender = (query.get('person') ?? '').trim();
  if (sender === '') return undefined;
  const place = (query.get('chat') ?? '').trim();
  const type = query.get('type') ?? '';
  const direct = chatOf(sender, type === '' ? 'private' : type);
  const writer = writerAt(sender, place === '' ? direct : chatOf(place, type));
  const kind = kinds.find(([value]) => value === query.get('kind'))?.[0] ?? 'person';
  return {
    ...writer,
    kind,
    external: query.get('external') === 'yes',
    addressed: query.get('addressed') === 'yes',
  };
}

function results(
  { sender, channel, chat, chatType }: Writer,
  { message, skills, catalogue }: AccessDecisions,
): Html {
  const said = message.allowed
    ? html`<p class="yes">The bot answers this message, because ${message.reason}.</p>`
    : html`<p class="no">The bot does not answer this message. ${message.code}: ${message.reason}</p>`;
  const title = message.allowed ? 'Skills' : 'Skills, if they might talk';
  const rows = skills.map((skill) => [
    rowHead(html`${code(skill.name)}${skill.sensitive ? html` <small>sensitive</small>` : nothing}`),
    verdict(skill.byPerson),
    verdict(skill.byModel),
    cell(lackOf(skill)),
  ]);
  return html`<h2>${code(sender)} in ${code(`${channel}:${chat}`)} <small>${chatType}</small></h2>
    ${said}${detail(message)}
    <h2>${title}</h2>
    ${table(title, ['Skill', 'Started by the person', 'Started by the model', 'Also needs'], rows, 'There are no skills.')}
    <h2>The catalogue in the prompt</h2>
    ${
      catalogue === ''
        ? html`<p class="empty">The model sees no skill here.</p>`
        : html`<pre tabindex="0">${catalogue}</pre>`
    }`;
}

function lackOf({ lacks, missingEnv }: SkillDecisions): string {
  const env = missingEnv.length === 0 ? [] : [`in [skills]: ${missingEnv.join(', ')}`];
  return [...(lacks ? ['programs or packages that are missing'] : []), ...env].join('; ');
}
