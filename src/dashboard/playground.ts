import type { AccessDecisions, SkillDecisions, Writer } from '../operator/access/access-decisions.ts';
import { chatOf, detail, lists, typeChoices, verdict, whyNot } from './access.ts';
import { cell, code, badge, rowHead, table } from './elements.ts';
import { checkbox, field, search, select } from './fields.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { knownPlaces, splitId, writerAt, type Known } from './known-places.ts';
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
  group: 'People',
  async main(view) {
    const known = await knownPlaces(view);
    const form = html`<p>Be anybody in any chat. The bot’s own gates decide; nothing is sent or run.</p>
      ${presets(known, view)}${formOf(view)}${lists(known)}`;
    const writer = writerOf(view.query);
    if (writer === undefined) return form;
    return html`${form}${results(writer, await view.ask('access decisions', writer), view)}`;
  },
};

type Preset = Readonly<{ label: string; asked: Readonly<Record<string, string>> }>;

/** Links to the questions that are asked most. */
function presets({ people, chats }: Known, { config, names }: PageView): Html {
  const [member] = people;
  const [channel] = splitId(
    member?.id ?? (config.telegram !== undefined || config.slack === undefined ? 'telegram:1' : 'slack:U1'),
  );
  const stranger = channel === 'slack' ? 'slack:U0STRANGER' : 'telegram:999999999';
  const chat = chats.find(({ id }) => id.startsWith(`${channel}:`));
  const all: readonly Preset[] = [
    { label: 'a stranger in a direct message', asked: { person: stranger } },
    ...(chat === undefined
      ? []
      : [{ label: `a stranger in ${chat.name ?? chat.id}`, asked: { person: stranger, chat: chat.id } }]),
    ...(member === undefined
      ? []
      : [
          {
            label: `${member.name ?? names.person(member.id) ?? member.id} in a direct message`,
            asked: { person: member.id },
          },
        ]),
    ...(member === undefined || chat === undefined
      ? []
      : [
          {
            label: `${member.name ?? names.person(member.id) ?? member.id} in ${chat.name ?? chat.id}`,
            asked: { person: member.id, chat: chat.id },
          },
        ]),
  ];
  return html`<ul class="presets" aria-label="Examples">
    ${all.map(({ label, asked }) => {
      const query = new URLSearchParams({ ...asked, addressed: 'yes' });
      return html`<li><a class="button" href="/playground?${query.toString()}">${label}</a></li>`;
    })}
  </ul>`;
}

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
  { names }: PageView,
): Html {
  const id = `${channel}:${chat}`;
  const where = id === sender ? 'a direct message' : (names.chat(id) ?? id);
  const said = message.allowed
    ? html`<div class="banner yes">
        <p>The bot answers this message, because ${message.reason}.</p>
        ${detail(message)}
      </div>`
    : html`<div class="banner no">
        <p title="${message.code}">The bot does not answer this message. ${whyNot(message)}.</p>
        ${detail(message)}
      </div>`;
  const rows = skills.map((skill) => [
    rowHead(html`${code(skill.name)}${skill.sensitive ? html` ${badge('quiet', 'sensitive')}` : nothing}`),
    verdict(skill.byPerson),
    verdict(skill.byModel),
    cell(lackOf(skill)),
  ]);
  const headings = ['Skill', 'Started by the person', 'Started by the model', 'Also needs'];
  const ofSkills = table('Skills', headings, rows, 'There are no skills.');
  const shown = message.allowed
    ? html`<h2>Skills</h2>
        ${ofSkills}`
    : html`<h2>Skills</h2>
        <p>None, because nothing is answered.</p>
        <details id="if">
          <summary>What the rules of each skill would say if this person might talk there</summary>
          ${ofSkills}
        </details>`;
  return html`<h2>${names.person(sender) ?? sender} in ${where} <small>${chatType}</small></h2>
    ${said}${shown}
    <h2>The catalogue in the prompt</h2>
    ${
      catalogue === ''
        ? html`<p class="empty">The model sees no skill here.</p>`
        : html`<pre tabindex="0" role="group" aria-label="The catalogue in the prompt">${catalogue}</pre>`
    }`;
}

function lackOf({ lacks, missingEnv }: SkillDecisions): string {
  const env = missingEnv.length === 0 ? [] : [`in [skills]: ${missingEnv.join(', ')}`];
  return [...(lacks ? ['programs or packages that are missing'] : []), ...env].join('; ');
}
