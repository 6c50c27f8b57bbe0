import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from './servers/messages/messages-server.ts';
import { startSlackServer } from './servers/slack/start-slack-server.ts';
import { startTelegramServer } from './servers/telegram/start-telegram-server.ts';
import { childEnv } from './support/child-env.ts';
import { cliPath } from './support/cli-path.ts';
import { blocksOf, documents, words } from './support/documents.ts';
import { openCliHome } from './support/run-cli.ts';

/** Each `skillet init` that documents show with what it prints. */
const shown = documents().flatMap(({ file, text }) =>
  blocksOf(text).flatMap((block) => {
    const [command = '', ...printed] = block.text.split('\n');
    return command.startsWith('$ skillet init ')
      ? [{ file, command, printed: printed.join('\n').trim() }]
      : [];
  }),
);

type Scene = Readonly<{
  flags: readonly string[];
  secrets: Readonly<Record<string, string>>;
  /** Does what a person would do once they have read this. */
  act(said: string): void;
}>;

test('L17 what the documents show of `skillet init` is what it prints', async (t) => {
  assert.equal(shown.length, 3);
  for (const { file, command, printed } of shown) {
    const scene = command.includes('--slack') ? await onSlack(t) : await onTelegram(t);
    const said = await init(t, words(command).slice(2), scene);
    assert.equal(plain(said), plain(printed), file);
  }
});

/** With the secrets in `.env`, as the tutorials have it. */
async function init(
  t: TestContext,
  args: readonly string[],
  { flags, secrets, act }: Scene,
): Promise<string> {
  const home = await openCliHome(t);
  const model = await startMessagesServer({ script: () => 'ok', apiKey: 'sk-1' });
  t.after(() => model.close());
  const lines = Object.entries({ ...secrets, ANTHROPIC_API_KEY: 'sk-1' }).map(
    ([name, value]) => `${name}=${value}\n`,
  );
  await home.write('.env', lines.join(''));
  const of = ['--model', 'claude-sonnet-5-5', '--base-url', model.url];
  const child = spawn(process.execPath, [cliPath, ...args, ...of, ...flags], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => act((said += text)));
  await once(child, 'close');
  return said.trim();
}

async function onTelegram(t: TestContext): Promise<Scene> {
  const server = await startTelegramServer({ privacy: false });
  t.after(() => server.close());
  const ann = server.person({ name: 'Ann Lee' });
  const group = server.group({ title: 'Team' });
  group.setBot('absent');
  return {
    flags: ['--telegram-api-root', server.url],
    secrets: { TELEGRAM_BOT_TOKEN: server.token },
    act: inTurn([
      [/^ {2}([A-Z0-9]{10})$/m, (code) => ann.says(`/start ${code}`)],
      [/(Add the bot to the group)/, () => group.setBot('member', { id: ann.id, first_name: 'Ann Lee' })],
    ]),
  };
}

async function onSlack(t: TestContext): Promise<Scene> {
  const server = await startSlackServer();
  t.after(() => server.close());
  const anna = server.workspace.addUser('anna');
  return {
    flags: ['--slack-api-url', server.url],
    secrets: { SLACK_BOT_TOKEN: server.tokens.bot, SLACK_APP_TOKEN: server.tokens.app },
    act: inTurn([[/^ {2}([A-Z0-9]{10})$/m, (code) => server.people.dm(anna, code)]]),
  };
}

function inTurn(
  steps: readonly (readonly [sign: RegExp, act: (found: string) => void])[],
): (said: string) => void {
  const left = [...steps];
  return (said) => {
    const [sign, act] = left[0] ?? [];
    const found = sign?.exec(said)?.[1];
    if (found === undefined || act === undefined) return;
    left.shift();
    act(found);
  };
}

/** Without what differs from run to run: codes, ids and the folder. */
function plain(said: string): string {
  return said
    .replace(/\b[A-Z0-9]{10}\b/g, 'CODE')
    .replace(/\b(telegram|slack):-?\w+/g, '$1:ID')
    .replace(/\S+\/config\.toml/g, 'config.toml');
}
