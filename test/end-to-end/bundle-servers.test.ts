import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { agentPackage, claudeBundle } from '../support/bundle-source.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const run = promisify(execFile);

async function skillet({ home }: WholeBot, ...args: readonly string[]): Promise<string> {
  const config = ['--config', path.join(home, 'config.toml')];
  return (await run(process.execPath, [cliPath, ...args, ...config], { env: childEnv(home) })).stdout;
}

const lineOf = ({ log }: WholeBot, words: string, server: string) =>
  log.line(({ message, fields }) => message.includes(words) && fields['server'] === server);

type Started = Readonly<{ cwd: string; root: string; args: readonly string[]; env: Record<string, string> }>;

/** What the servers of a bundle wrote down when they started. */
function startedIn(data: string, bundle: string): Started {
  const folder =
    readdirSync(path.join(data, 'bundle-data')).find((name) => name.startsWith(`${bundle}-`)) ?? '';
  return JSON.parse(readFileSync(path.join(data, 'bundle-data', folder, 'started.json'), 'utf8')) as Started;
}

test('F12 X7 servers of both kinds of bundles run from the kept files once their sections are in the config', async (t) => {
  const bot = await startWholeBot(t, { env: { PATH: process.env['PATH'] ?? '', CANARY: 'canary-1' } });
  const sources = [agentPackage(bot.home), claudeBundle(bot.home)];
  const sections: string[] = [];
  for (const source of sources) {
    const stdout = await skillet(bot, 'skill', 'add', source, '--yes');
    sections.push(stdout.slice(stdout.indexOf('\n\n[mcp.')));
    // The kept files run, not those of the source.
    rmSync(source, { recursive: true });
  }
  assert.deepEqual(await bot.bot.operate('mcp list'), [], 'nothing starts by an installation');
  const data = path.join(bot.home, 'data');
  await bot.reconfigure(sections.join('\n'));
  const on = await bot.restart();
  for (const [server, bundle] of [
    ['local', 'acme.tools'],
    ['own', 'flow'],
  ] as const) {
    await lineOf(on, 'an MCP server is connected', server);
    const { cwd, root, env } = startedIn(data, bundle);
    assert.equal(cwd, root);
    assert.ok(root.startsWith(path.join(data, 'installed')));
    assert.ok(env['PLUGIN_DATA']?.startsWith(path.join(data, 'bundle-data')));
    assert.equal(env['CANARY'], undefined);
  }
  const { args, env } = startedIn(data, 'acme.tools');
  assert.deepEqual(args, ['--data', `${env['PLUGIN_DATA']}/x`]);
  const listed = await on.bot.operate('mcp list');
  assert.deepEqual(
    listed.flatMap(({ tools }) => tools.map(({ name }) => name)),
    ['check', 'check'],
  );
});

test('F12 S1 a server whose files changed does not start, and starts by itself once they are restored', async (t) => {
  const bot = await startWholeBot(t, { env: { PATH: process.env['PATH'] ?? '' } });
  const stdout = await skillet(bot, 'skill', 'add', agentPackage(bot.home), '--yes');
  const data = path.join(bot.home, 'data');
  const installed = path.join(data, 'installed');
  const kept = readdirSync(installed, { recursive: true }).map(String);
  const program = kept.find((file) => file.endsWith('acme.tools/bin/check')) ?? '';
  rmSync(path.join(installed, program));
  writeFileSync(path.join(installed, program), '#!/bin/sh\ntouch "$PLUGIN_DATA/evil"\n', { mode: 0o755 });
  await bot.reconfigure(stdout.slice(stdout.indexOf('\n\n[mcp.')));
  const on = await bot.restart();
  const away = await lineOf(on, 'an MCP server is away', 'local');
  assert.match(String(away.fields['why']), /"bin\/check" was changed.*skill update acme\.tools/);
  assert.ok(!readdirSync(data).includes('bundle-data'), 'nothing of it ran');
  await skillet(on, 'skill', 'update', 'acme.tools');
  await lineOf(on, 'an MCP server is connected', 'local');
});

test('F12 X7 a running bot starts a server again with files that were updated, and stops it when they are removed', async (t) => {
  const bot = await startWholeBot(t, { env: { PATH: process.env['PATH'] ?? '' } });
  const source = agentPackage(bot.home);
  const stdout = await skillet(bot, 'skill', 'add', source, '--yes');
  const data = path.join(bot.home, 'data');
  await bot.reconfigure(stdout.slice(stdout.indexOf('\n\n[mcp.')));
  const on = await bot.restart();
  await lineOf(on, 'an MCP server is connected', 'local');
  const { root } = startedIn(data, 'acme.tools');
  const program = path.join(source, 'bin/server.mjs');
  writeFileSync(program, readFileSync(program, 'utf8').replace('Checks.', 'Checks more.'));
  await skillet(on, 'skill', 'update', 'acme.tools', '--yes');
  await t.waitFor(() => assert.notEqual(startedIn(data, 'acme.tools').root, root), { timeout: 60_000 });
  await on.log.line(
    ({ message, fields }) =>
      message.includes('tools of an MCP server are off') && fields['server'] === 'local',
  );
  await skillet(on, 'skill', 'remove', source);
  const away = await lineOf(on, 'an MCP server is away', 'local');
  assert.match(String(away.fields['why']), /no bundle acme\.tools is installed/);
});
