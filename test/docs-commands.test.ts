import assert from 'node:assert/strict';
import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { commands } from '../src/cli/commands.ts';
import { startMessagesServer } from './servers/messages/messages-server.ts';
import { startTelegramServer } from './servers/telegram/start-telegram-server.ts';
import { sandboxHere } from './support/bubblewrap-here.ts';
import { blocksOf, documents, root, shownCommands, words } from './support/documents.ts';
import { isJobPage } from './support/job-pages.ts';
import { makeRepository } from './support/git-repository.ts';
import { openCliHome } from './support/run-cli.ts';

const all = documents().filter(({ file }) => !/^(?:docs\/(?:decisions|spec)|CHANGELOG)/.test(file));
const shown = shownCommands(all);
const scripts = Object.keys(
  (JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts,
);

/** Not carried out here, and why. */
const notRun: Readonly<Record<string, string>> = {
  'npm install': 'needs the registry',
  'npm ci': 'needs the registry',
  'npm install @anthropic-ai/bedrock-sdk': 'needs the registry',
  'npm install @anthropic-ai/vertex-sdk': 'needs the registry',
  'npm start': 'runs until it is stopped: test/cli/chat.test.ts',
  'npm run test:all': 'is what runs this',
  'npm run test:slow': 'is what runs this',
  'npm test': 'is what runs this',
  'npm test -- test/agent': 'is what runs this',
  'npm run check': 'its own step of the checks',
  'npm run lint': 'its own step of the checks',
  'npm run test:scale': 'half an hour; test/scale has short runs',
  'npm run test:machines': 'many minutes; test/machines has a short run',
  'npm run bench:throughput': 'minutes; prints figures',
  'npm pack ./plugins/days': 'test/end-to-end/plugin-docs.test.ts',
  'npm install --no-save ./skillet-plugin-days-1.0.0.tgz': 'test/end-to-end/plugin-docs.test.ts',
  'npx -p node@24 -p ./skillet-0.2.0.tgz skillet chat --once "roll 2d6"': 'needs the registry',
  'npx node --test test/agent/run-loop.test.ts': 'a test of its own',
  'npx node --test --test-name-pattern T8 test/end-to-end/approvals.test.ts': 'a test of its own',
  'npx node --inspect-brk bin/skillet.js chat': 'waits for a debugger',
  'npx node --inspect-brk --test test/end-to-end/telegram.test.ts': 'waits for a debugger',
  'skillet rehearse --config new.toml --since 7d': 'test/operator/rehearse.test.ts',
  'skillet rehearse --config new.toml --model default --sample 20': 'test/operator/rehearse-answers.test.ts',
  'skillet feedback to-test 061bb29b5d5a --contains 14:30': 'test/end-to-end/feedback-to-test.test.ts',
  'skillet skill test tides': 'test/end-to-end/feedback-to-test.test.ts',
  'skillet start': 'runs until it is stopped: test/end-to-end',
  'skillet dashboard': 'runs until it is stopped: test/dashboard',
  'skillet dashboard --act --as telegram:42': 'runs until it is stopped: test/dashboard',
  'skillet sandbox build': 'fetches from Debian: npm run test:sandbox-build',
  'skillet sandbox build --fresh': 'fetches from Debian: npm run test:sandbox-build',
  'skillet mcp agree notes': 'needs a server that changed: test/end-to-end/mcp.test.ts',
  'skillet capability check notes': 'takes long: test/features/capabilities/check-provider.test.ts',
  'skillet skill add owner/name': 'needs GitHub',
  'skillet skill add git@example.com:team/skills.git': 'needs ssh',
  'skillet skill test celsius --record celsius.json': 'test/cli/test-skill.test.ts',
  'skillet skill test celsius --approve': 'test/cli/skill-evals.test.ts',
  'skillet skill test celsius --baseline': 'test/cli/skill-evals.test.ts',
  'skillet skill test celsius --trigger prompts.json': 'test/cli/skill-evals.test.ts',
  'skillet skill test celsius --replay celsius.json': 'test/cli/test-skill.test.ts',
  'skillet chat --once "/workbook my trip: train 89.50, hotel 240, with a total"':
    'test/end-to-end/public-skills.test.ts',
  'skillet chat --once "/workbook my trip"': 'test/end-to-end/public-skills.test.ts',
  'skillet chat --once "/tide-times brest"': 'test/end-to-end/public-skills.test.ts',
  'skillet chat --once "/release-notes /chat/site v1"': 'test/end-to-end/public-skills.test.ts',
};

/** For placeholders, and for what would be outside of the folder. */
const meant: readonly (readonly [RegExp, string])[] = [
  [/^skillet skill new NAME$/, 'skillet skill new made --description "Something. Use when asked."'],
  [/\bskill (test|show) NAME\b/, 'skill $1 office'],
  [/\bvalidate PATH\b/, 'validate workspace/skills/office'],
  [/ \/(backups|srv)\//g, ' ./$1/'],
  [/^(skillet skill (?:add|update) .*|skillet restore .* --store-only)$/, '$1 --yes'],
];

test('L17 every `skillet` command in the documents exists, with its arguments and options', () => {
  const lines = shown.map(asSkillet).filter((line) => line !== undefined);
  assert.ok(lines.length > 150, String(lines.length));
  assert.deepEqual(
    lines.flatMap((line) => wrongIn(line) ?? []),
    [],
  );
  for (const wrong of ['skillet skil list', 'skillet doctor --onlin', 'skillet status now'])
    assert.ok(wrongIn(wrong) !== undefined, wrong);
});

test('L17 every npm script and file of a test that the documents name is there', async () => {
  const named = shown.flatMap(({ line }) => /^npm (?:run (?:-s )?)?([a-z:]+)/.exec(line)?.[1] ?? []);
  const builtIn = ['install', 'uninstall', 'ci', 'pack', 'publish', 'run'];
  assert.deepEqual(
    named.filter((name) => !builtIn.includes(name) && !scripts.includes(name)),
    [],
  );
  for (const { line } of shown)
    for (const [file] of line.matchAll(/\btest\/\S+\.ts/g)) await readFile(path.join(root, file));
});

test('L17 every command line in the blocks of the documents runs, or says why it does not', async (t) => {
  const lines = [
    // test/cli/prove.test.ts carries out the page for auditors as a whole.
    ...new Set(
      shown.flatMap(({ file, line, isInline }) =>
        isInline || isReference(file) || isJobPage(file) || file === 'docs/how-to/prove.md' ? [] : [line],
      ),
    ),
  ];
  assert.deepEqual(
    Object.keys(notRun).filter((line) => !lines.includes(line)),
    [],
    'no longer shown',
  );
  const place = await openPlace(t);
  const failed: string[] = [];
  for (const line of lines.filter((one) => !(one in notRun) && !/^skillet init/.test(one))) {
    const typed = meant
      .reduce((text, [from, to]) => text.replace(from, to), line)
      .replace(/file:\/\/\S+/, place.repository);
    const command = asSkillet({ line: typed }) ?? assert.fail(`${line}: add it to notRun, with why`);
    const { code, stdout, stderr } = await place.home.run(words(command).slice(1), { env: place.env });
    if (line.startsWith('skillet skill new opening-hours')) await place.addRule();
    if (code !== (codes[line] ?? 0)) failed.push(`${typed} ended with ${code}\n${stdout}${stderr}`);
  }
  assert.deepEqual(failed, []);
});

function isReference(file: string): boolean {
  return file.startsWith('docs/reference/');
}

/** From a clone it is called through npm. */
function asSkillet({ line }: Readonly<{ line: string }>): string | undefined {
  const typed = line.replace(/^(?:npm run -s (?:skillet --|(?=chat))|npx(?= skillet ))\s*/, 'skillet ');
  return /^skillet (?:skillet )?/.test(typed)
    ? typed.replace(/^(?:skillet )+/, 'skillet ').replace(/ -- /, ' ')
    : undefined;
}

/** What is wrong with a line by the declarations that the parser is made of. */
function wrongIn(line: string): string | undefined {
  const [, ...given] = words(line);
  // Stands for any.
  if (given.length === 0 || given[0] === 'COMMAND') return undefined;
  const two = given.slice(0, 2).join(' ');
  const command = commands.find(({ name }) => name === two) ?? commands.find(({ name }) => name === given[0]);
  const isGroup = commands.some(({ name }) => name.startsWith(`${given.join(' ')} `));
  if (command === undefined)
    return isGroup || given[0]?.startsWith('-') === true ? undefined : `${line}: no such command`;
  const rest = given.slice(command.name.split(' ').length);
  let values = 0;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!/^-/.test(word)) values++;
    else {
      const found = optionOf(command, word);
      if (found === undefined) return `${line}: no option ${word}`;
      if (found.value) at++;
    }
  }
  const most = Object.keys(command.args).length;
  return values > most ? `${line}: more than ${most} arguments` : undefined;
}

function optionOf(
  { options, json }: (typeof commands)[number],
  word: string,
): { value: boolean } | undefined {
  const found = Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || word === `-${short}`,
  )?.[1];
  if (found !== undefined) return { value: found.value !== undefined };
  if (word === '--config') return { value: true };
  return word === '--help' || (json && word === '--json') ? { value: false } : undefined;
}

/** A bot as the documents have it, between test servers, and the codes that commands end with there. */
async function openPlace(t: TestContext) {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const model = await startMessagesServer({ script: () => 'The office is open.', apiKey: 'sk-1' });
  t.after(() => model.close());
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/start');
  await home.write('notes.json', '{ "tools": [] }');
  const config = configOf(ann.id, telegram.url, model.url, path.join(home.folder, 'notes.json'));
  await home.write('config.toml', `${config}${sandboxHere}`);
  const accessPage = await readFile(path.join(root, 'docs/how-to/access.md'), 'utf8');
  const [tests] = blocksOf(accessPage).filter(({ text }) => text.startsWith('[[test]]'));
  await home.write('access.tests.toml', tests?.text ?? '');
  for (const folder of ['backups', 'srv', 'team-skills/retro'])
    await mkdir(path.join(home.folder, folder), { recursive: true });
  await cp(path.join(root, 'examples/skills/notes'), path.join(home.folder, 'workspace/skills/notes'), {
    recursive: true,
  });
  const skill = '---\nname: standup\ndescription: Sums up a standup. Use when asked.\n---\nSum it up.\n';
  await writeFile(path.join(home.folder, 'team-skills/retro/SKILL.md'), skill.replaceAll('standup', 'retro'));
  const office = path.join(home.folder, 'workspace/skills/office');
  await mkdir(path.join(office, 'tests'), { recursive: true });
  await writeFile(path.join(office, 'SKILL.md'), skill.replaceAll('standup', 'office'));
  await writeFile(
    path.join(office, 'tests/basic.toml'),
    '[[case]]\nname = "asked"\nmessage = "/office when?"\nskill = "office"\n',
  );
  const repository = makeRepository(t);
  repository.commit({ 'standup/SKILL.md': skill });
  return {
    home,
    env: { TELEGRAM_BOT_TOKEN: telegram.token, ANTHROPIC_API_KEY: 'sk-1' },
    repository: repository.url,
    addRule,
  };

  /** Of step 7 of the tutorials. */
  async function addRule(): Promise<void> {
    await appendFile(
      path.join(home.folder, 'config.toml'),
      `[skills.opening-hours]\nallow_users = ["telegram:${ann.id}"]\n`,
    );
  }
}

/** Commands that find something to say there. */
const codes: Readonly<Record<string, number>> = {
  // No bot runs.
  'skillet status': 1,
  // Nobody has linked an account.
  'skillet accounts remove telegram:42 linear': 1,
  'skillet capability revoke telegram:42 gog.email': 1,
  // The rule of the tutorials says no.
  'skillet access explain slack:U00000005 --chat slack:C00000001 --as channel --skill opening-hours': 1,
  'skillet access explain telegram:4000002 --chat telegram:-1002000000001 --skill opening-hours': 1,
};

function configOf(owner: number, telegram: string, model: string, notes: string): string {
  return `[bot]
owner = ["telegram:${owner}"]
[telegram]
token = "$TELEGRAM_BOT_TOKEN"
api_root = "${telegram}"
[models.default]
model = "claude-sonnet-5-5"
api_key = "$ANTHROPIC_API_KEY"
base_url = "${model}"
[access]
users = ["telegram:42"]
groups = ["telegram:-100", "telegram:-100123", "telegram:-1002000000001", "slack:C00000001"]
group_users = ["*"]
[mcp.notes]
command = "${process.execPath}"
args = ["${path.join(root, 'test/servers/mcp/stdio-server.ts')}", "${notes}"]
[capabilities.providers.notes]
command = ["${process.execPath}", "${path.join(root, 'providers/notes/main.ts')}", "--data", "./notes"]
`;
}
