import path from 'node:path';
import { accessTestsOf, readAccessTests } from '../config/access-tests.ts';
import type { Config } from '../config/complete-config.ts';
import { slackUserGroups } from '../config/people-groups.ts';
import type { SeenChatType } from '../core/conversation.ts';
import { isServed } from '../channels/terminal/control.ts';
import { OperatorError } from '../core/errors.ts';
import { ruleName, type Ruling } from '../access/ruling.ts';
import { toWriter } from '../operator/access/question.ts';
import { runAccessTests } from '../operator/access/run-access-tests.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, printList } from './console.ts';
import { openOperatorConfig } from './open-config.ts';
import { noSuchSkill, quietLog, skillsHere } from './skills-here.ts';

type Asked = SharedOptions &
  Readonly<{
    user: string;
    chat?: string;
    as?: SeenChatType;
    external?: boolean;
    unaddressed?: boolean;
    skill?: string;
  }>;

/** Says who may do what where, by which rule, and what would change it (L13). Exit code 1 for a denial. */
export async function explainAccess(asked: Asked): Promise<void> {
  const { config: flag, json, user: who, chat: where, as: chatType, external, unaddressed, skill } = asked;
  const config = await openOperatorConfig(flag);
  const writer = toWriter({ who, where, chatType, external, unaddressed });
  const isRunning = await isServed(config.bot.dataDir);
  const { message: talk, skills } = await askBot(flag, 'access decisions', writer);
  const rulings = skills
    .filter(({ name }) => skill === undefined || name === skill)
    .map(({ name, byPerson: ruling }) => ({ name, ruling }));
  if (skill !== undefined && rulings.length === 0)
    throw noSuchSkill(
      skill,
      skills.map(({ name }) => name),
    );
  if (!talk.allowed || (skill !== undefined && rulings[0]?.ruling.allowed === false)) process.exitCode = 1;
  const unread = who.startsWith('slack:') && !isRunning ? slackUserGroups(config) : [];
  if (json === true) return printJson({ talk, skills: rulings, unread });
  const place = where === undefined || where === who ? 'in a direct message' : `in ${where}`;
  printList(paragraph(`${who} ${talk.allowed ? 'may' : 'may not'} talk to the bot ${place}`, talk));
  const intro = talk.allowed ? '' : 'Skill access alone: ';
  for (const { name, ruling } of rulings)
    if (skill === undefined)
      printList([`  ${ruling.allowed ? '✓' : '✗'} ${name}${ruling.allowed ? '' : `: ${ruling.reason}`}`]);
    else
      printList(paragraph(`${intro}${who} ${ruling.allowed ? 'may' : 'may not'} use ${name} there`, ruling));
  if (unread.length > 0)
    print(`Not counted: ${unread.join(', ')}. Only a running bot asks Slack who is in a user group.`);
}

/** Compares the config with a file of expectations (L14). Exit code 1 if one is not met. */
export async function testAccess({
  config: flag,
  json,
  file,
}: SharedOptions & Readonly<{ file?: string }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const place = file === undefined ? defaultFile(config) : path.resolve(file);
  const registry = await skillsHere(config);
  const results = await runAccessTests(config, { tests: readAccessTests(place), registry, log: quietLog });
  const failed = results.filter(({ passed }) => !passed);
  if (failed.length > 0) process.exitCode = 1;
  if (json === true) return printJson({ ok: failed.length === 0, results });
  for (const { what, expected, passed, ruling } of results) {
    printList([`${passed ? '✓' : '✗'} ${what}: ${expected}`, ...(passed ? [] : detail(ruling))]);
  }
  print(`${results.length - failed.length} of ${results.length} as expected.`);
}

function defaultFile({ path: config }: Config): string {
  if (config === undefined)
    throw new OperatorError(
      'Name the file with the tests: there is no config, so there is no folder to look in.',
    );
  return accessTestsOf(config);
}

function paragraph(said: string, ruling: Ruling): readonly string[] {
  return [`${said}.`, ...detail(ruling)];
}

function detail({ code, reason, rule, change }: Ruling): readonly string[] {
  return [
    `  Because: ${code === undefined ? '' : `${code}: `}${reason}`,
    ...(rule === undefined ? [] : [`  Rule: ${ruleName(rule)}`]),
    ...(change === undefined ? [] : [`  To change that: ${change}`]),
  ];
}
