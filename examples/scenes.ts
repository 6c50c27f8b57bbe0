/**
 * Plays the scenes shown in docs/how-to/try-it.md: the bot as `npm start` runs it, between a strict Telegram server on loopback and
 * people who talk to it, without a language model. Prints what everybody sees. Usage: node examples/scenes.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Person } from '../test/servers/telegram/person.ts';
import type { Chat } from '../test/servers/telegram/room.ts';
import { startTelegramServer } from '../test/servers/telegram/start-telegram-server.ts';

const root = path.join(import.meta.dirname, '..');
const home = await mkdtemp(path.join(tmpdir(), 'skillet-scenes-'));
const telegram = await startTelegramServer({ privacy: false });
const olga = telegram.person({ name: 'Olga' });
const eve = telegram.person({ name: 'Eve' });
const friends = telegram.group({ title: 'Friends' });

await mkdir(path.join(home, 'workspace/skills/diary'), { recursive: true });
await writeFile(
  path.join(home, 'workspace/skills/diary/SKILL.md'),
  '---\nname: diary\ndescription: Reads the diary.\nsensitive: true\n---\nRead it.\n',
);
await writeFile(
  path.join(home, 'config.toml'),
  `[bot]
owner = ["telegram:${olga.id}"]
[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
[log]
level = "warn"
[access]
groups = ["telegram:${friends.id}"]
`,
  { mode: 0o600 },
);
const bot = spawn(
  process.execPath,
  [path.join(root, 'bin/skillet.js'), 'start', '--config', path.join(home, 'config.toml')],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: home },
  },
);
try {
  await telegram.until('the bot', () => telegram.calls('setMyCommands').length > 1);
  await scene('A first direct message', olga, 'roll 2d6+1 for me');
  print('Skillet', await olga.dm.nextMessage());
  await scene('A skill by its name', olga, '/dice 3d6');
  await scene('A skill that needs a language model', olga, '/research the oldest bridge of Paris');
  await scene('A mention in a group', olga, '@test_bot flip a coin: 1d2', friends);
  await scene('A sensitive skill in a group', olga, '/diary yesterday', friends);
  await scene('A stranger', eve, 'let me in, I am the boss');
  print('Olga sees', await olga.dm.nextMessage(/valid for an hour/));
} finally {
  bot.kill('SIGTERM');
  await once(bot, 'exit');
  await telegram.close();
  await rm(home, { recursive: true });
}

async function scene(title: string, who: Person, text: string, where: Chat = who.dm): Promise<void> {
  process.stdout.write(`\n${title}\n  ${who.user.first_name}: ${text}\n`);
  who.says(text, { in: where });
  print('Skillet', await where.nextMessage());
}

function print(who: string, { text, buttons }: Readonly<{ text: string; buttons: readonly string[] }>): void {
  const shown = [
    ...text.split('\n').filter((line) => line !== ''),
    ...buttons.map((label) => `[ ${label} ]`),
  ];
  process.stdout.write(`  ${who}: ${shown.join('\n      ')}\n`);
}
