import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome, type CliRun } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';

type Home = Awaited<ReturnType<typeof openCliHome>>;

/** Says what `config check` says of a config. */
async function check(home: Home, toml: string, env: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  await home.write('config.toml', toml);
  return home.run(['config', 'check'], { env });
}

const telegram = '[telegram]\ntoken = "123456789:AAExampleExampleExampleExampleExample"\n';

test('G2 config check names tokens that are none, with their lines, and shows none of them', async (t) => {
  const home = await openCliHome(t);
  const wrong = await check(
    home,
    '[telegram]\ntoken = "not-a-token"\n[slack]\nbot_token = "canary-bot"\napp_token = "canary-app"\n',
  );
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /config\.toml:2: warning TOKEN_FORM: telegram\.token .*123456:ABC….*@BotFather/);
  assert.match(wrong.stdout, /config\.toml:4: warning TOKEN_FORM: slack\.bot_token .*xoxb-…/);
  assert.match(wrong.stdout, /config\.toml:5: warning TOKEN_FORM: slack\.app_token .*xapp-…/);
  assert.doesNotMatch(wrong.stdout, /canary|not-a-token/);
  const swapped = '[slack]\nbot_token = "xapp-1-canary"\napp_token = "xoxb-2-canary"\n';
  const said = await check(home, swapped);
  assert.match(said.stdout, /config\.toml:2: error TOKENS_SWAPPED: .*these two are swapped/);
  assert.doesNotMatch(said.stdout, /canary/);
  const started = await home.run(['start']);
  assert.deepEqual([started.code, started.stderr], [1, said.stdout]);
  const fine = await check(home, `${telegram}[slack]\nbot_token = "xoxb-1"\napp_token = "xapp-1"\n`);
  assert.deepEqual([fine.code, fine.stdout], [0, `${path.join(home.folder, 'config.toml')} is fine.\n`]);
});

test('G2 config check and start name a port that is in use, unless this very bot uses it', async (t) => {
  const home = await openCliHome(t);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const toml = `${telegram}[server]\nlisten = "127.0.0.1:${port}"\n`;
  const said = await check(home, toml);
  assert.equal(said.code, 1);
  assert.match(
    said.stdout,
    /config\.toml:4: error PORT_UNUSABLE: server\.listen .*another program has that port/,
  );
  const started = await home.run(['start']);
  assert.deepEqual([started.code, started.stderr], [1, said.stdout]);
  await new Promise((resolve) => other.close(resolve));
  assert.equal((await check(home, toml)).code, 0);
  const bot = await startRunningBot(t, home, `[server]\nlisten = "127.0.0.1:${port}"\n`);
  const itself = await home.run(['config', 'check']);
  assert.deepEqual([itself.code, /is fine/.test(itself.stdout)], [0, true], itself.stdout);
  assert.equal(await bot.end(), 0);
});

test('G2 config check names what start would find missing on this machine', async (t) => {
  const home = await openCliHome(t);
  const mcp = await check(home, '[mcp.notes]\ncommand = "no-such-program"\n[mcp.here]\ncommand = "./tool"\n');
  assert.equal(mcp.code, 1);
  assert.match(mcp.stdout, /config\.toml:2: warning PROGRAM_MISSING: .*not on PATH \(no-such-program\)/);
  assert.match(mcp.stdout, /config\.toml:4: warning PROGRAM_MISSING: .*not there \(\.\/tool\)/);
  await writeFile(path.join(home.folder, 'tool'), '#!/bin/sh\n', { mode: 0o700 });
  assert.equal((await check(home, '[mcp.here]\ncommand = "./tool"\n[mcp.sh]\ncommand = "sh"\n')).code, 0);
  const model = await check(home, '[models.default]\nmodel = "claude-sonnet-5-5"\n');
  assert.match(model.stdout, /config\.toml:1: warning MODEL_WITHOUT_KEY: .*ANTHROPIC_API_KEY/);
  const keyed = { ANTHROPIC_API_KEY: 'sk-ant-canary-0123' };
  const chat =
    '[models]\nfallback = "haiku"\n[models.default]\napi = "openai"\nmodel = "gpt-5.4"\napi_key = "$KEY"\n';
  const away = await check(home, chat, { KEY: 'sk-canary-0123456' });
  assert.match(
    away.stdout,
    /config\.toml:2: warning MODEL_WITHOUT_KEY: models\.fallback names haiku.*ANTHROPIC_API_KEY/,
  );
  assert.equal((await check(home, chat, { ...keyed, KEY: 'sk-canary-0123456' })).code, 0);
  const keyless = await check(home, '[models.default]\napi = "openai"\nmodel = "gpt-5.4"\n');
  assert.match(keyless.stdout, /warning MODEL_WITHOUT_KEY: .*set OPENAI_API_KEY/);
  assert.equal((await check(home, '[models.default]\nmodel = "claude-sonnet-5-5"\n', keyed)).code, 0);
  assert.equal(
    (await check(home, '[models.default]\nmodel = "m"\nbase_url = "http://127.0.0.1:1"\n')).code,
    0,
  );
});

test('G2 config check names folders that can not be used, and makes none', async (t) => {
  const home = await openCliHome(t);
  assert.equal((await check(home, '')).code, 0);
  assert.deepEqual(await readdir(home.folder), ['config.toml']);
  await home.write('a-file', '');
  for (const place of ['./a-file', './a-file/data']) {
    const said = await check(home, `[bot]\ndata_dir = "${place}"\n`);
    assert.equal(said.code, 1);
    assert.match(
      said.stdout,
      /error START_REFUSED: .*a-file is a file, and a folder must be there.*data_dir/,
    );
    const started = await home.run(['chat', '--once', 'hello']);
    assert.equal(`error START_REFUSED: ${started.stderr}`, said.stdout);
    const workspace = await check(home, `[bot]\nworkspace = "${place}"\n`);
    assert.match(workspace.stdout, /config\.toml:2: error WORKSPACE_UNUSABLE: .*a-file is a file/);
  }
  if (process.platform !== 'linux') return;
  const proc = await check(
    home,
    '[bot]\ndata_dir = "/proc/skillet/data"\nworkspace = "/proc/skillet/work"\n',
  );
  assert.match(
    proc.stdout,
    /WORKSPACE_UNUSABLE: .*\/proc takes no new folder[^]*START_REFUSED: .*\/proc takes no/,
  );
});

test('G2 config check says of a sandbox what start would', { skip: process.getuid?.() !== 0 }, async (t) => {
  const home = await openCliHome(t);
  const said = await check(home, '[sandbox]\nmode = "docker"\n');
  assert.equal(said.code, 1);
  const started = await home.run(['chat', '--once', 'hello']);
  assert.match(started.stderr, /does not run as root/);
  assert.equal(`error START_REFUSED: ${started.stderr}`, said.stdout);
});

test('S4 a config whose secrets others may read is told with its chmod; one without secrets is not', async (t) => {
  const home = await openCliHome(t);
  const file = await home.write('config.toml', telegram);
  const checkAs = async (mode: number, toml: string): Promise<CliRun> => {
    await writeFile(file, toml);
    await chmod(file, mode);
    return home.run(['config', 'check'], {
      env: { TOKEN: '123456789:AAExampleExampleExampleExampleExample' },
    });
  };
  for (const mode of [0o644, 0o640, 0o604]) {
    const { code, stdout } = await checkAs(mode, telegram);
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`^warning SECRETS_READABLE: .*: chmod 600 ${file}\\n$`));
  }
  assert.equal((await checkAs(0o600, telegram)).code, 0);
  assert.equal((await checkAs(0o644, '[telegram]\ntoken = "$TOKEN"\n')).code, 0);
  assert.equal((await checkAs(0o644, '[store]\nurl = "postgres://bob:secret-pw@127.0.0.1/db"\n')).code, 1);
  await checkAs(
    0o644,
    '[models.default]\nmodel = "m"\napi_key = "sk-canary"\nbase_url = "http://127.0.0.1:1"\n',
  );
  await mkdir(path.join(home.folder, 'data'), { mode: 0o755 });
  const chat = await home.run(['chat', '--once', '/whoami']);
  assert.match(chat.stderr, /other users of this machine may read .*chmod 600/);
});

test('S10 a config or a skill folder that others could change is told with its chmod', async (t) => {
  const home = await openCliHome(t);
  const file = await home.write('config.toml', '[bot]\nname = "Bo"\n');
  const skills = path.join(home.folder, 'workspace', 'skills');
  await mkdir(skills, { recursive: true });
  assert.equal((await home.run(['config', 'check'])).code, 0);
  await chmod(file, 0o646);
  await chmod(skills, 0o777);
  const { code, stdout } = await home.run(['config', 'check']);
  assert.equal(code, 1);
  const told = (place: string): string =>
    `warning CHANGEABLE_BY_OTHERS: others could change ${place}: ${place} can be written by its group or by others: chmod go-w it\n`;
  assert.equal(stdout, told(file) + told(skills));
});

test('G2 S1 a table for no skill and a missing key are told with their lines', async (t) => {
  const home = await openCliHome(t);
  const slip = await check(home, '[bot]\nname = "Bo"\n\n[skills.reserch]\nenabled = false\n');
  assert.match(slip.stdout, /config\.toml:4: warning SKILL_UNKNOWN: \[skills\.reserch\]/);
  const missing = await check(home, '[bot]\nname = "Bo"\n\n[slack]\nbot_token = "xoxb-1"\n');
  assert.match(missing.stdout, /config\.toml:4:1: slack\.app_token is missing/);
});
