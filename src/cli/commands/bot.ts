import { statSync } from 'node:fs';
import path from 'node:path';
import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { askBot } from '../ask-bot.ts';
import { argument, command, count, filled, flag, option, portNumber, senderId } from '../command.ts';
import { print, printJson } from '../console.ts';

/** The bot itself: to run it, talk to it, look after it. */
export const botCommands = [
  command({
    name: 'start',
    about: 'run the bot; without a channel configured, chat in this terminal',
    run: async (given) => (await import('../start.ts')).start(given),
  }),
  command({
    name: 'chat',
    about: 'talk to the bot in this terminal',
    options: {
      once: option<string | undefined>('text', 'send one message, print the answer, leave', { read: filled }),
      as: option<ChatType>('chat type', 'pretend to be in such a chat', {
        choices: chatTypes,
        preset: 'private',
      }),
      user: option<string | undefined>('name', 'be somebody else than the owner', { read: filled }),
    },
    run: async (given) => (await import('../chat.ts')).chat(given),
  }),
  command({
    name: 'config check',
    about: 'say what start would say',
    json: true,
    run: async (given) => (await import('../config.ts')).checkConfig(given),
  }),
  command({
    name: 'config show',
    about: 'the configuration in force, secrets masked',
    json: true,
    run: async (given) => (await import('../config.ts')).showConfiguration(given),
  }),
  command({
    name: 'dashboard',
    about: 'a page in your browser: what runs, approvals, access, costs, inbox, audit, health',
    options: {
      port: option<number>('number', 'of 127.0.0.1; any free one if left out', {
        read: portNumber,
        preset: 0,
      }),
      act: flag('also change things; without it the page is read-only'),
      as: option<string | undefined>('sender', 'answer approvals as this person', { read: senderId }),
    },
    examples: ['skillet dashboard', 'skillet dashboard --act --as telegram:42'],
    needs: 'bot',
    run: async (given) => (await import('../dashboard.ts')).dashboard(given),
  }),
  command({
    name: 'status',
    about: 'one screen: is it running, channels, model, store, what waits, what failed, tokens today',
    options: { watch: flag('again every two seconds, until Ctrl-C') },
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).status(given),
  }),
  command({
    name: 'tasks',
    about: 'runs in the background, of every chat',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).listTasks(given),
  }),
  command({
    name: 'stats',
    about: 'tokens and money by day, skill, person and model',
    options: {
      days: option<number>('count', 'of so many days, today included', { read: count, preset: 7 }),
    },
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../stats.ts')).stats(given),
  }),
  command({
    name: 'audit tail',
    about:
      'the newest lines: who had what done, who approved it, what was refused; --json prints them as recorded',
    options: {
      lines: option<number>('count', 'how many', { short: 'n', read: count, preset: 20 }),
      follow: flag('go on with what is recorded from now on, until Ctrl-C'),
      person: option('id', 'only what this person did, asked for or approved, such as telegram:42'),
      skill: option('name', 'only of this skill'),
      kind: option('event', 'only such events, such as tool_call or pairing'),
      since: option('when', 'only newer ones: 30m, 2h, 7d, or a day such as 2026-11-24'),
    },
    examples: [
      'skillet audit tail --follow --person telegram:42',
      'skillet audit tail --since 2h --kind pairing',
    ],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../audit.ts')).auditTail(given),
  }),
  command({
    name: 'audit verify',
    about: 'say whether anything in it was changed, moved or taken away',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../audit.ts')).auditVerify(given),
  }),
  command({
    name: 'backup',
    about: 'write a consistent copy of the store to a new file, while the bot runs or not',
    args: { file: argument('a new file') },
    examples: ['skillet backup /backups/monday.db'],
    needs: 'bot',
    json: true,
    run: backup,
  }),
  command({
    name: 'restore',
    about: 'put a backup in the place of the store, while no bot runs; the store is kept beside it',
    args: { file: argument('a file that backup wrote') },
    options: { yes: flag('without being asked') },
    examples: ['skillet restore /backups/monday.db'],
    run: async (given) => (await import('../restore.ts')).restore(given),
  }),
];

/** Progress goes to standard error (Q10, L9). */
async function backup(given: Readonly<{ file: string; config?: string; json?: boolean }>): Promise<void> {
  const file = path.resolve(given.file);
  const onTerminal = process.stderr.isTTY;
  let shown = -1;
  await askBot(given.config, 'backup', file, (done, total) => {
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    // A log gets every tenth part.
    if (percent === shown || (!onTerminal && percent < 100 && percent - shown < 10)) return;
    shown = percent;
    process.stderr.write(onTerminal ? `\r${percent} %` : `${percent} %\n`);
  });
  if (onTerminal && shown >= 0) process.stderr.write('\n');
  const { size: bytes } = statSync(file);
  if (given.json === true) return printJson({ file, bytes });
  print(
    `${file} is written (${Math.ceil(bytes / 1024)} KB). To restore it, stop the bot and run \`skillet restore ${file}\`.`,
  );
}
