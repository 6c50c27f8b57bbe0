import { oneLine, printable } from '../../lib/text/text.ts';
import type { InitAnswers, FoundPerson } from './answers.ts';

/** The text of the config file, with comments for people who edit it later. `schema`: its first line, for editors. */
export function configText(answers: InitAnswers, schema?: string): string {
  const { name, model, telegram, slack, owners, groups } = answers;
  const sections = [
    [...(schema === undefined ? [] : [schema]), ...head],
    [
      '[bot]',
      `name = ${quoted(name)}`,
      '# Who runs the bot: approves people, groups and risky calls.',
      ...list('owner', owners),
    ],
    telegram && [
      '[telegram]',
      ...(telegram.username === undefined ? [] : [`# @${telegram.username}`]),
      `token = "$${telegram.token.variable}"`,
      ...(telegram.apiRoot === undefined ? [] : [`api_root = ${quoted(telegram.apiRoot)}`]),
    ],
    slack && [
      '[slack]',
      `bot_token = "$${slack.botToken.variable}"`,
      `app_token = "$${slack.appToken.variable}"`,
      '# As in app-manifest.yaml: each direct message begins a thread.',
      'agent_view = true',
      ...(slack.apiUrl === undefined ? [] : [`api_url = ${quoted(slack.apiUrl)}`]),
    ],
    [
      '# Who may talk to the bot. A stranger who writes to it gets a code for you to approve.',
      '[access]',
      '# People, by id, besides the owners.',
      'users = []',
      '# Groups and channels, by id. The people above may talk there; group_users = ["*"] admits everybody in them.',
      ...list('groups', groups),
    ],
    modelLines(model),
  ];
  return `${sections.flatMap((lines) => (lines === undefined ? [] : [lines.join('\n')])).join('\n\n')}\n`;
}

const head = [
  '# Skillet’s configuration. `skillet config check` checks it; config.example.toml names every key and its default.',
  '# "$NAME" is the variable NAME: of the environment, or of .env beside this file. Most saved edits apply at once.',
];

function modelLines(model: InitAnswers['model']): readonly string[] {
  if (model === undefined)
    return [
      '# Without a model a small offline stand-in answers.',
      '#[models.default]',
      '#model = "claude-sonnet-5-5"',
      '#api_key = "$ANTHROPIC_API_KEY"',
    ];
  return [
    '[models.default]',
    `model = ${quoted(model.model)}`,
    ...(model.api === 'anthropic' ? [] : [`api = "${model.api}"`]),
    ...(model.baseUrl === undefined ? [] : [`base_url = ${quoted(model.baseUrl)}`]),
    ...(model.region === undefined ? [] : [`region = ${quoted(model.region)}`]),
    ...(model.project === undefined ? [] : [`project = ${quoted(model.project)}`]),
    ...(model.key === undefined ? [] : [`api_key = "$${model.key.variable}"`]),
  ];
}

function list(key: string, items: readonly FoundPerson[]): readonly string[] {
  if (items.length === 0) return [`${key} = []`];
  const lines = items.map(({ id, name }) => {
    const comment = name === undefined ? '' : ` # ${printable(oneLine(name, 60))}`;
    return `  ${quoted(id)},${comment}`;
  });
  return [`${key} = [`, ...lines, ']'];
}

/** Quotes a text for TOML, which has the same escapes as JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
