import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { openCliHome } from '../support/run-cli.ts';

test('G5 .env beside the config gives what the environment lacks, and the environment wins', async (t) => {
  const home = await openCliHome(t);
  const server = await startMessagesServer({
    script: ({ messages }) => `heard ${messages.length}`,
    apiKey: 'sk-from-the-file',
  });
  t.after(() => server.close());
  await mkdir(path.join(home.folder, 'bot'));
  await home.write(
    'bot/config.toml',
    `[models.default]\nmodel = "claude-haiku-5-5"\nbase_url = "${server.url}"\napi_key = "$MODEL_KEY"\n`,
  );
  const chat = ['chat', '--config', 'bot/config.toml', '--once', 'hello'];
  const without = await home.run(chat);
  assert.equal(without.code, 1);
  assert.match(without.stderr, /the environment has no MODEL_KEY/);
  await home.write('bot/.env', '# the key\nMODEL_KEY="sk-from-the-file"\n');
  // One in the folder where a command is given is none of the bot's.
  await home.write('.env', 'MODEL_KEY=sk-of-somebody-else\n');
  const heard = await home.run(chat);
  assert.deepEqual([heard.code, heard.stdout], [0, 'heard 1\n'], heard.stderr);
  const other = await home.run(chat, { env: { MODEL_KEY: 'sk-of-the-shell' } });
  assert.match(other.stdout + other.stderr, /key|401/i);
  assert.equal(server.requests.length, 1);
  const shown = await home.run(['config', 'show', '--config', 'bot/config.toml']);
  assert.match(shown.stdout, /api_key = "\$MODEL_KEY"/);
});

test('G5 S4 a .env that is unreadable or a folder stops a command; a broken line in it does not', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '[bot]\nname = "Bo"\n');
  await writeFile(path.join(home.folder, '.env'), 'no assignment\nGOOD=1\n', { mode: 0o600 });
  assert.equal((await home.run(['config', 'check'])).code, 0);
  const folder = path.join(home.folder, 'sub');
  await mkdir(path.join(folder, '.env'), { recursive: true });
  await writeFile(path.join(folder, 'config.toml'), '');
  const said = await home.run(['config', 'check', '--config', 'sub/config.toml']);
  assert.equal(said.code, 1);
  assert.match(said.stderr, /\.env can't be read: EISDIR/);
});

test('S10 a .env that others could change is told by config check', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '[bot]\nname = "Bo"\n');
  await writeFile(path.join(home.folder, '.env'), 'A=1\n', { mode: 0o600 });
  assert.equal((await home.run(['config', 'check'])).code, 0);
  await chmod(path.join(home.folder, '.env'), 0o622);
  const said = await home.run(['config', 'check']);
  assert.match(said.stdout, /warning CHANGEABLE_BY_OTHERS: others could change .*\.env/);
});

test('G5 a byte order mark or another encoding of .env and of files of tests is read, or said', async (t) => {
  const home = await openCliHome(t);
  const said = async (env: Buffer | string) => {
    await home.write('config.toml', '[telegram]\ntoken = "$BOT_TOKEN"\n');
    await writeFile(path.join(home.folder, '.env'), env, { mode: 0o600 });
    const { code, stdout, stderr } = await home.run(['config', 'check']);
    return `${code} ${stdout}${stderr}`;
  };
  const line = 'BOT_TOKEN=123456789:AAtesttesttesttesttesttesttesttesttest\n';
  const utf16 = Buffer.from(line, 'utf16le');
  for (const good of [
    line,
    `\uFEFF${line}`,
    `\uFEFF${line}`.replaceAll('\n', '\r\n'),
    `\uFEFFexport ${line}`,
  ])
    assert.match(await said(good), /^0 /, JSON.stringify(good));
  const others = {
    'with a mark': Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
    'without a mark': utf16,
    'big endian': Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
    'Latin-1': Buffer.from(`# für mich\n${line}`, 'latin1'),
  };
  for (const [name, bytes] of Object.entries(others))
    assert.match(await said(bytes), /^1 .*\.env is not UTF-8: save it as UTF-8 text\.\n$/, name);
  // The wizard keeps other lines, and leaves none of the same name beside the new one.
  await home.write('.env', `\uFEFFTELEGRAM_BOT_TOKEN=old\nOTHER=1\n`);
  const init = [
    'init',
    '--yes',
    '--offline',
    '--replace',
    '--telegram-token',
    '123456789:AAnewnewnewnewnewnewnewnewnewnewnew',
  ];
  assert.equal((await home.run(init)).code, 0);
  const kept = await readFile(path.join(home.folder, '.env'), 'utf8');
  assert.equal(kept, 'OTHER=1\nTELEGRAM_BOT_TOKEN=123456789:AAnewnewnewnewnewnewnewnewnewnewnew\n');
  await home.write(
    'access.tests.toml',
    '\uFEFF[[test]]\nwho = "telegram:42"\ntalk = true\nexpect = "deny"\n',
  );
  assert.equal((await home.run(['access', 'test'])).code, 0);
  await writeFile(path.join(home.folder, 'access.tests.toml'), utf16);
  assert.match((await home.run(['access', 'test'])).stderr, /access\.tests\.toml is not UTF-8/);
});
