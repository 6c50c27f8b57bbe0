import type { ExportFormat } from '../../audit/export-formats.ts';
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
      once: option<string | undefined>('text', 'send one message, print the answer, exit', { read: filled }),
      as: option<ChatType>('chat type', 'pretend to be in this kind of chat', {
        choices: chatTypes,
        preset: 'private',
      }),
      user: option<string | undefined>('name', 'pretend to be this person instead of the owner', {
        read: filled,
      }),
    },
    run: async (given) => (await import('../chat.ts')).chat(given),
  }),
  command({
    name: 'config check',
    about: 'check config.toml and report problems',
    json: true,
    run: async (given) => (await import('../config.ts')).checkConfig(given),
  }),
  command({
    name: 'config show',
    about: 'print the configuration in use, with secrets masked',
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
      'open a page in your browser: runs, approvals, access, costs, inbox, routines, memory, audit, health',
    options: {
      port: option<number>('number', 'the port on 127.0.0.1; default: any free one', {
        read: portNumber,
        preset: 0,
      }),
      act: flag('allow changes; without it the page is read-only'),
      as: option<string | undefined>('sender', 'answer approvals as this person', { read: senderId }),
    },
    examples: ['skillet dashboard --act --as telegram:42'],
    needs: 'bot',
    run: async (given) => (await import('../dashboard.ts')).dashboard(given),
  }),
  command({
    name: 'status',
    about: 'show on one screen what runs, what waits, what failed, and tokens used today',
    options: { watch: flag('refresh every two seconds, until Ctrl-C') },
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).status(given),
  }),
  command({
    name: 'routines',
    about: 'list the reminders and routines of everybody',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).listRoutines(given),
  }),
  onRoutine('pause', 'pause it until you resume it'),
  onRoutine('resume', 'resume it at its next time'),
  onRoutine('remove', 'delete it; those in [[routines]] of the config stay'),
  command({
    name: 'tasks',
    about: 'list background runs of every chat',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../status.ts')).listTasks(given),
  }),
  command({
    name: 'stats',
    about: 'show tokens and money by day, skill, person and model',
    options: {
      days: option<number>('count', 'the last so many days, today included', { read: count, preset: 7 }),
      month: option<string | undefined>('year-month', 'this month instead, such as 2026-10', {
        read: month,
      }),
      csv: flag('print CSV, for a spreadsheet'),
    },
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../stats.ts')).stats(given),
  }),
  command({
    name: 'audit tail',
    about:
      'show the newest entries: who did what, who approved it, what was refused; --json prints the raw entries',
    options: {
      lines: option<number>('count', 'how many', { short: 'n', read: count, preset: 20 }),
      follow: flag('keep printing new entries, until Ctrl-C'),
      person: option('id', 'only entries of this person, such as telegram:42'),
      skill: option('name', 'only entries of this skill'),
      kind: option('event', 'only this event, such as tool_call or pairing'),
      since: option('when', 'only newer entries: 30m, 2h, 7d, or a day such as 2026-11-24'),
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
    about: 'check whether anybody changed, moved or removed an entry',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../audit.ts')).auditVerify(given),
  }),
  command({
    name: 'audit export',
    about: 'write a part of the audit into a new file, with a proof that anybody can check',
    args: { file: argument('a new file, such as november.jsonl') },
    options: {
      since: option('when', 'from this time on: 30m, 2h, 7d ago, or a day such as 2026-11-24'),
      until: option('when', 'only before this time'),
      person: option('id', 'only entries of this person; of the others the file has the hashes'),
      format: option<ExportFormat>('form', 'jsonl as written, csv for a spreadsheet, otlp for a log server', {
        choices: ['jsonl', 'csv', 'otlp'],
        preset: 'jsonl',
      }),
    },
    examples: ['skillet audit export november.jsonl --since 2026-11-01 --until 2026-12-01'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../audit.ts')).auditExport(given),
  }),
  command({
    name: 'audit key',
    about: 'print the public key that exports are checked with',
    needs: 'bot',
    async run({ config }) {
      const { publicKey } = await askBot(config, 'audit key');
      print(publicKey.trimEnd());
    },
  }),
  command({
    name: 'backup',
    about: 'write store, keys, config, audit, skills and files into one new file; the bot may run meanwhile',
    args: { file: argument('a new file, such as monday.tar') },
    options: { secrets: flag('include .env, with its tokens') },
    examples: ['skillet backup /backups/monday.tar'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../backup.ts')).backup(given),
  }),
  command({
    name: 'restore',
    about: 'restore a backup into an empty folder; overwrites nothing',
    args: { file: argument('a file made by `skillet backup`') },
    options: {
      to: option('folder', 'an empty folder; default: this one'),
      elsewhere: flag('also write to places outside that folder that its config names; lists them first'),
      'store-only': flag('replace only the store; the old one is kept beside it'),
      yes: flag('with --store-only: do not ask first'),
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
    args: { id: argument('an id from `skillet routines`') },
    needs: 'bot',
    run: async ({ config, id }) => printJson(await askBot(config, `routine ${act}`, { id })),
  });
}
