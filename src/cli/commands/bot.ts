import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { askBot } from '../ask-bot.ts';
import { argument, command, count, filled, flag, month, option, portNumber, senderId } from '../command.ts';
import { print, printJson } from '../console.ts';

/** Commands to run the bot, to talk to it and to look after it. */
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
    name: 'config schema',
    about: 'print the JSON Schema of config.toml, for editors',
    needs: 'nothing',
    async run() {
      const { readFileSync } = await import('node:fs');
      const { configSchemaFile } = await import('../config-schema-file.ts');
      print(readFileSync(configSchemaFile, 'utf8').trimEnd());
    },
  }),
  command({
    name: 'dashboard',
    about:
      'a page in your browser: what runs, approvals, access, costs, inbox, routines, memory, audit, health',
    options: {
      port: option<number>('number', 'of 127.0.0.1; any free one if left out', {
        read: portNumber,
        preset: 0,
      }),
      act: flag('also change things; without it the page is read-only'),
      as: option<string | undefined>('sender', 'answer approvals as this person', { read: senderId }),
    },
    examples: ['skillet dashboard --act --as telegram:42'],
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
    name: 'routines',
    about: 'reminders and routines of all people: whose, where, when next, and how the last one went',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).listRoutines(given),
  }),
  onRoutine('pause', 'leave out its times until it is resumed'),
  onRoutine('resume', 'let it run again, from its next time on'),
  onRoutine('remove', 'end it for good; not those of [[routines]]'),
  command({
    name: 'tasks',
    about: 'runs in the background, of every chat',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).listTasks(given),
  }),
  command({
    name: 'stats',
    about: 'tokens and money by day, skill, person and model; runs of skills',
    options: {
      days: option<number>('count', 'of so many days, today included', { read: count, preset: 7 }),
      month: option<string | undefined>(
        'year-month',
        'of this month, such as 2026-10, whatever --days says',
        {
          read: month,
        },
      ),
      csv: flag('as CSV, for a spreadsheet'),
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
    about:
      'store, keys, config, audit, skills and files of conversations as one new file, while the bot runs or not',
    args: { file: argument('a new file, such as monday.tar') },
    options: { secrets: flag('take .env along, with its tokens') },
    examples: ['skillet backup /backups/monday.tar'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../backup.ts')).backup(given),
  }),
  command({
    name: 'restore',
    about: 'put all of a backup into an empty place; nothing that is there is overwritten',
    args: { file: argument('a file that backup wrote') },
    options: {
      to: option('folder', 'where all of it goes; this folder if left out'),
      elsewhere: flag(
        'also write to the places outside that folder that its config names; they are listed first',
      ),
      'store-only': flag('only the store, in the place of the one that is there, which is kept beside it'),
      yes: flag('with --store-only: without being asked'),
    },
    examples: [
      'skillet restore /backups/monday.tar --to /srv/bot',
      'skillet restore /backups/monday.tar --store-only',
    ],
    run: async (given) => (await import('../restore.ts')).restore(given),
  }),
  command({
    name: 'move-store',
    about: 'copy the store from SQLite to PostgreSQL or back, while the bot is stopped',
    options: {
      to: option<string>('target', "a PostgreSQL address, or a new SQLite file; '$NAME' for a variable", {
        required: true,
      }),
    },
    examples: ["skillet move-store --to '$DATABASE_URL'", 'skillet move-store --to data/skillet.db'],
    run: async (given) => (await import('../move-store.ts')).moveStore(given),
  }),
];

function onRoutine(act: 'pause' | 'resume' | 'remove', about: string) {
  return command({
    name: `routine ${act}`,
    about,
    args: { id: argument('as `routines` shows it') },
    needs: 'bot',
    run: async ({ config, id }) => printJson(await askBot(config, `routine ${act}`, { id })),
  });
}
