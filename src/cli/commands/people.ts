import type { WordOrigin } from '../../core/provenance.ts';
import type { AllowedGroup } from '../../access/users.ts';
import type { InputOf, OperationName, OutputOf } from '../../operator/operations.ts';
import { askBot } from '../ask-bot.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { argument, command, flag, option, optional, senderId, type SharedOptions } from '../command.ts';
import { oneLine } from '../../lib/text/text.ts';
import { agree, inMinutes, isYes, print, printJson, printList } from '../console.ts';

/** Commands for who may talk to the bot, and what waits for them. */
export const peopleCommands = [
  command({
    name: 'pair list',
    about: 'list owners, paired people and requests',
    needs: 'bot',
    json: true,
    run: listPairs,
  }),
  command({
    name: 'pair claim',
    about: 'print a token that makes you the first owner',
    needs: 'bot',
    async run({ config }) {
      const { claim } = await askBot(config, 'pair claim');
      print(`Within ten minutes, send this to the bot in a direct message:
  on Telegram  /${claim}
  on Slack     ${claim}`);
    },
  }),
  change('pair approve', 'approve the person behind a code', 'code', 'the code that the bot sent them'),
  change('pair deny', 'refuse the person behind a code', 'code', 'the code that the bot sent them'),
  change('pair revoke', 'remove a paired person', 'sender', 'the id of a person or group'),
  command({
    name: 'inbox list',
    about: 'list dead letters: messages that failed three times',
    options: { waiting: flag('list unanswered messages instead') },
    needs: 'bot',
    json: true,
    run: listInbox,
  }),
  change('inbox retry', 'try again to answer a message', 'key', 'a key from `skillet inbox list`'),
  change('inbox drop', 'leave a message unanswered', 'key', 'a key from `skillet inbox list`'),
  command({
    name: 'outbox list',
    about: 'list parts of answers that the platform refused',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const parts = await askBot(config, 'outbox list');
      if (json === true) return printJson(parts);
      const lines = parts.map(
        ({ key, queue, error, at }) => `${key}  to ${queue}  ${inMinutes(at)}  ${error}`,
      );
      printList(lines, 'No failed deliveries.');
    },
  }),
  change('outbox retry', 'send a failed part again', 'key', 'a key from `skillet outbox list`'),
  command({
    name: 'policy list',
    about: 'list standing approvals',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const rules = await askBot(config, 'policy list');
      if (json === true) return printJson(rules);
      const originNote = await originNotes();
      printList(
        rules.map((rule) => ruleLine(rule, originNote)),
        'No standing approvals.',
      );
    },
  }),
  change(
    'policy revoke',
    'remove a standing approval; the bot asks again',
    'id',
    'an id from `skillet policy list`',
  ),
  command({
    name: 'memory list',
    about: 'list the notes of a person, from every chat',
    args: { person: argument('the id of a person, such as telegram:42', senderId) },
    examples: ['skillet memory list telegram:42'],
    needs: 'bot',
    json: true,
    async run({ config, json, person }) {
      const memories = await askBot(config, 'memory list', person);
      if (json === true) return printJson(memories);
      const originNote = await originNotes();
      const lines = memories.map(
        ({ id, at, scope, chat, text, from }) =>
          `${id}  ${inMinutes(at)}  ${scope}  ${chat}  ${oneLine(text, 500)}${originNote(from)}`,
      );
      printList(lines, 'There are no notes of this person.');
    },
  }),
  command({
    name: 'memory team',
    about: 'count all notes and list those of the team',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const notes = await askBot(config, 'memory team');
      if (json === true) return printJson(notes);
      const originNote = await originNotes();
      const { person, chat, team } = notes.counts;
      printList([
        `${person} notes of people, ${chat} of chats, ${team} of the team`,
        ...notes.team.map(
          ({ id, at, author, text, from }) =>
            `${id}  ${inMinutes(at)}  ${author}  ${oneLine(text, 500)}${originNote(from)}`,
        ),
      ]);
    },
  }),
  command({
    name: 'memory remove',
    about: 'remove a note of the team',
    args: { id: argument('an id from `skillet memory team`') },
    needs: 'bot',
    run: async ({ config, id }) => printJson(await askBot(config, 'memory remove', { id })),
  }),
  command({
    name: 'forget',
    about: 'delete what the bot stores about a person',
    args: { user: argument('the id of a person, such as telegram:42', senderId) },
    options: { yes: flag('do not ask first') },
    examples: ['skillet forget telegram:42'],
    needs: 'bot',
    json: true,
    run: forget,
  }),
  command({
    name: 'export',
    about: 'write what the bot stores of a person into one new archive',
    args: {
      person: argument('the id of a person, such as telegram:42', senderId),
      file: optional('a new file; default: the id with .tar'),
    },
    examples: ['skillet export telegram:42 ada.tar'],
    needs: 'bot',
    json: true,
    run: exportPerson,
  }),
  command({
    name: 'hold list',
    about: 'list legal holds, and who was to be forgotten meanwhile',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const holds = await askBot(config, 'hold list');
      if (json === true) return printJson(holds);
      const lines = holds.map(
        ({ id, since, by, reason, waiting }) =>
          `${id}  since ${inMinutes(since)}  by ${by}${reason === undefined ? '' : `  ${oneLine(reason, 200)}`}${waiting.length === 0 ? '' : `  waiting to be forgotten: ${waiting.join(', ')}`}`,
      );
      printList(lines, 'There are no legal holds.');
    },
  }),
  command({
    name: 'hold add',
    about: 'keep what is stored of a person or in a chat, whatever retention and forget say',
    args: { id: argument('the id of a person or chat, such as telegram:42 or telegram:-100123') },
    options: { reason: option('text', 'why, for the list') },
    examples: ["skillet hold add telegram:42 --reason 'case 2026-17'"],
    needs: 'bot',
    async run({ config, id, reason }) {
      await askBot(config, 'hold add', { id, reason });
      print(
        `${id} is under a legal hold. Retention and \`${skilletHere()} forget\` leave it out until the hold is removed.`,
      );
    },
  }),
  command({
    name: 'hold remove',
    about: 'end a legal hold; says who was to be forgotten meanwhile',
    args: { id: argument('an id from `skillet hold list`') },
    needs: 'bot',
    async run({ config, id }) {
      const { waiting } = await askBot(config, 'hold remove', { id });
      print(`${id} is under no hold any more.`);
      for (const person of waiting)
        print(`${person} was to be forgotten meanwhile: \`${skilletHere()} forget ${person}\``);
    },
  }),
];

/** Writes the archive of a person. Exit code 1 if nothing is stored of them (L18). */
async function exportPerson(
  given: SharedOptions & Readonly<{ person: string; file?: string }>,
): Promise<void> {
  const { person, config, json } = given;
  const { resolve } = await import('node:path');
  const file = resolve(given.file ?? `${person.replace(/[^\w-]/g, '-')}.tar`);
  const made = await askBot(config, 'person export', { person, file });
  const all = Object.entries(made.records);
  if (all.length === 0 && made.files === 0) process.exitCode = 1;
  if (json === true) return printJson(made);
  print(`${file} is written, readable only by you. It has of ${person}:`);
  for (const [name, records] of all) print(`  ${name.padEnd(19)} ${records}`);
  print(`  ${'files'.padEnd(19)} ${made.files}`);
  if (made.leftOut.length > 0)
    print(`Left out, because these are links or can't be read: ${made.leftOut.join(', ')}.`);
}

/** Names of operations whose input is one text. */
type TextOperation = { [Name in OperationName]: InputOf<Name> extends string ? Name : never }[OperationName];

/** Declares an operation that changes one thing and prints what it did. */
function change(name: TextOperation, about: string, what: string, aboutIt: string) {
  return command({
    name,
    about,
    args: { [what]: argument(aboutIt) },
    needs: 'bot',
    run: async (given) => printJson(await askBot(given.config, name, given[what] ?? '')),
  });
}

async function listPairs({ config, json }: SharedOptions): Promise<void> {
  const all = await askBot(config, 'pair list');
  if (json === true) return printJson(all);
  const group = ({ id, name, since }: AllowedGroup): string =>
    `${id}  ${JSON.stringify(name)}  since ${inMinutes(since)}`;
  const lines = [
    ...all.owners.map((owner) => `owner    ${owner}`),
    ...all.paired.map(
      ({ sender, name, since }) => `paired   ${sender}  ${JSON.stringify(name)}  since ${inMinutes(since)}`,
    ),
    ...all.groups.map((one) => `allowed  ${group(one)}`),
    ...all.ignored.map((one) => `ignored  ${group(one)}`),
    ...all.pending.map(
      ({ code, sender, name, expiresAt }) =>
        `pending  ${code}  ${sender}  ${JSON.stringify(name)}  until ${inMinutes(expiresAt)}`,
    ),
  ];
  printList(lines, 'There are no paired people and no requests.');
}

async function listInbox({
  config,
  json,
  waiting,
}: SharedOptions & Readonly<{ waiting?: boolean }>): Promise<void> {
  const items = await askBot(config, 'inbox list', waiting === true ? 'waiting' : 'dead');
  if (json === true) return printJson(items);
  const lines = items.map(({ key, tries, error, takenAt, stopped }) =>
    [
      `${key}  ${tries} tries`,
      // Nobody works on a dead letter, so its time says nothing.
      ...(waiting === true && takenAt !== undefined ? [`in work since ${inMinutes(takenAt)}`] : []),
      ...(stopped === true ? ['to be stopped'] : []),
      ...(error === undefined ? [] : [error]),
    ].join('  '),
  );
  const none =
    waiting === true
      ? 'There are no unanswered messages.'
      : 'No dead letters. --waiting lists messages that are not answered yet.';
  printList(lines, none);
}

type OriginNote = (from: WordOrigin) => string;

/** Makes notes on where the request for an approval came from, empty if the person typed it (S13). */
async function originNotes(): Promise<OriginNote> {
  const { englishOrigin } = await import('../../core/provenance.ts');
  return (from) => {
    const origin = englishOrigin(from);
    return origin === undefined ? '' : `  (from ${oneLine(origin, 100)})`;
  };
}

function ruleLine(rule: OutputOf<'policy list'>[number], originNote: OriginNote): string {
  const { id, tool, skill, chat, sender, by, since, counts, from } = rule;
  const of = skill === undefined ? '' : ` of ${skill}`;
  const effect = counts ? '' : '  (has no effect: bash is asked for each time, and a changed tool again)';
  return `${id}  ${tool}${of}  for ${sender} in ${chat}  by ${by} since ${inMinutes(since)}${originNote(from)}${effect}`;
}

/** Removes what is stored of a person. Exit code 1 when nothing was stored, or the answer was no (Q12). */
async function forget(given: SharedOptions & Readonly<{ user: string; yes?: boolean }>): Promise<void> {
  const { user, config, json, yes } = given;
  const warning = `This deletes for good: the direct messages of ${user} with answers and files; in groups their messages, the answers to them and quotes of them; their waiting messages, pairing and usage. Running work for them stops. Backups are not touched.\n`;
  const answer = await agree(`${warning}Forget ${user}?`, yes === true);
  if (!isYes(answer, { unasked: 'There is nobody to ask here: add --yes.', no: 'Nothing was removed.' }))
    return;
  const gone = await askBot(config, 'forget', user);
  const { known, inConfig, removed } = gone;
  const nothing = !known && Object.values(removed).every((count) => count === 0);
  if (nothing) process.exitCode = 1;
  if (json === true) return printJson(gone);
  const { messages, entries, outbox, usage, asks, files } = removed;
  print(
    nothing
      ? `Nothing was stored of ${user}.`
      : `${user} is forgotten: ${entries} entries of conversations, ${messages} messages, ${outbox} answers, ${asks} questions, ${files} folders or files, ${usage} usage records.`,
  );
  if (inConfig) print(`The config names ${user}: remove the id there, or they can still talk to the bot.`);
}
