import { auditEvents } from './audit-events.ts';
import { configPage } from './config-page.ts';
import { configJsonSchema } from './config-schema.ts';
import { code, table } from './markdown.ts';
import { commands, commandGroups } from '../../src/cli/commands.ts';
import type { CliCommand, Parameter } from '../../src/cli/command.ts';
import { allCommands, allTools } from '../../src/features/list.ts';
import { knownKeys, knownMetadata, type KnownKey } from '../../src/skills/parse/known-keys.ts';
import { allReasons } from '../../src/operator/doctor/reasons.ts';

/** The files of docs/reference, by name. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'config.schema.json': configJsonSchema(),
    'config.md': page('Configuration', configIntroduction, configPage()),
    'commands.md': page('Commands of the command line', commandsIntroduction, commands.flatMap(commandPart)),
    'chat-commands.md': page('Commands in a chat', chatIntroduction, [chatCommands()]),
    'tools.md': page('Built-in tools', toolsIntroduction, [tools()]),
    'skill-keys.md': page('Keys of a SKILL.md', keysIntroduction, skillKeys()),
    'doctor.md': page('Findings of the doctor', doctorIntroduction, [doctorFindings()]),
    'audit-events.md': page('Events of the audit', auditIntroduction, [auditEvents()]),
  };
}

const configIntroduction = `Every key of \`config.toml\`. [config.example.toml](../../config.example.toml) has them as a file to copy.
Editors read [config.schema.json](config.schema.json), which a config names in its first line: \`#:schema FILE\`.
\`NAME\` is a name that you choose. An id is written as \`"telegram:42"\`; \`"$NAME"\` is a variable of the environment or of \`.env\`.`;
const commandsIntroduction = `Each has \`--help\` and \`--config FILE\`, the path of the configuration. Exit codes: 0 fine, 1 a problem was found, 2 wrong usage.
All of them work while the bot runs, unless their help says otherwise.`;
const chatIntroduction = `On Slack write them after \`/skill\`, such as \`/skill stop\`, or after a mention in a thread: \`@bot stop\`. A skill is a command, too:
\`/NAME\` and your request.`;
const toolsIntroduction = `What the model may call, before plugins and MCP servers add theirs. "If named" is a tool that needs a list to name it: \`[agent] tools\`
for the main agent, \`allowed-tools\` of a skill for its runs. \`[policy]\` says what happens at each risk. The risk of commands depends on the
sandbox and the network ([approvals](../how-to/approvals.md)).`;
const doctorIntroduction = `\`skillet doctor\` prints these ids, which do not change: scripts can match on them. Codes of skills and plugins come with their own explanation.`;
const keysIntroduction = `Keys of the front matter by the format that they come from. Snake case, kebab case and, for keys that restrict, any other
spelling such as \`disallowedTools\` are one key. A key with a meaning here that grants or restricts keeps the skill from loading if its
value is invalid. Any other key that looks as if it restricts (\`denied-tools\`, \`read-only\`, \`requires-approval\`) turns the skill off:
\`skillet skill list\` names it, and \`[skills.NAME] enabled = true\` turns the skill on without it.`;
const auditIntroduction = `What \`skillet audit tail\` shows, and \`--kind\` selects. Each line also has its time and its place in the chain. Ids are pseudonyms in the
files; texts of messages are never recorded.`;

function page(title: string, introduction: string, parts: readonly string[]): string {
  const origin = '<!-- Made from the code by `npm run docs:reference`. -->';
  return `${[`# ${title}`, origin, introduction, ...parts].filter((part) => part !== '').join('\n\n')}\n`;
}

function skillKeys(): readonly string[] {
  const dialects = [...new Set([...knownKeys.values()].map(({ dialect }) => dialect))];
  const means: Readonly<Record<KnownKey['does'], string>> = {
    describes: '',
    limits: 'limits',
    grants: 'grants',
    restricts: 'restricts',
  };
  const ofDialect = dialects.flatMap((dialect) => [
    `## ${dialect}`,
    table(
      ['key', 'kind', 'here'],
      [...knownKeys]
        .filter(([, row]) => row.dialect === dialect)
        .map(([key, row]) => [code(key.replaceAll('_', '-')), means[row.does], row.means]),
    ),
  ]);
  const below = Object.entries(knownMetadata).map(([key, text]) => [code(key), text]);
  return [...ofDialect, '## Below metadata.openclaw', table(['key', 'here'], below)];
}

function commandPart(command: CliCommand, index: number): readonly string[] {
  const { name, about, args, options, examples, json } = command;
  const [first = ''] = name.split(' ');
  const opens =
    name.includes(' ') && !commands.slice(0, index).some((other) => other.name.startsWith(`${first} `));
  const usage = [
    'skillet',
    name,
    ...Object.entries(args).map(([word, { required }]) => (required ? `<${word}>` : `[${word}]`)),
  ];
  const rows = [
    ...Object.entries(args).map(([word, one]) => [code(word), textOf(one)]),
    ...Object.entries(options).map(([word, one]) => [code(flagsOf(word, one)), textOf(one)]),
    ...(json ? [[code('--json'), 'as data']] : []),
  ];
  return [
    ...(opens ? [`## ${first}: ${commandGroups[first] ?? ''}`] : []),
    `${name.includes(' ') ? '###' : '##'} ${code(usage.join(' '))}`,
    `${about[0]?.toUpperCase() ?? ''}${about.slice(1)}.`,
    rows.length === 0 ? '' : table(['argument or option', 'meaning'], rows),
    examples.map((example) => `    ${example}`).join('\n'),
  ];
}

function flagsOf(word: string, { short, value }: Parameter<unknown>): string {
  return `${short === undefined ? '' : `-${short}, `}--${word}${value === undefined ? '' : ` <${value}>`}`;
}

function textOf({ about, choices, preset }: Parameter<unknown>): string {
  const among = choices === undefined ? '' : `: ${choices.map(code).join(', ')}`;
  return `${about}${among}${preset === undefined ? '' : ` (default: ${code(JSON.stringify(preset))})`}`;
}

function chatCommands(): string {
  const { names, row } = allCommands();
  const rows = names.map((name) => [code(`/${name}`), row(name)?.menu ?? row(name)?.about ?? '']);
  return table(['command', 'what it does'], rows);
}

function tools(): string {
  const offers = { kept: 'always', default: 'yes', named: 'if named' };
  const builtIn = allTools();
  const rows = builtIn.names().map((name) => {
    const tool = builtIn.row(name);
    if (tool === undefined) throw new Error(name);
    const { icon, says, risk, main, runs } = tool;
    return [code(name), `${icon} ${says}`, risk, main ? offers[main] : 'no', runs ? offers[runs] : 'no'];
  });
  return table(['tool', 'what it does', 'risk', 'main agent', 'runs of skills'], rows);
}

function doctorFindings(): string {
  const rows = [...allReasons()].map(([id, { why, fix }]) => [code(id), why, fix]);
  return table(['id', 'why it matters', 'fix'], rows);
}
