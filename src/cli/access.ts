import { existsSync } from 'node:fs';
import path from 'node:path';
import { accessTestsOf, readAccessTests } from '../config/access-tests.ts';
import type { Config } from '../config/complete-config.ts';
import { slackUserGroups } from '../config/people-groups.ts';
import type { SeenChatType } from '../core/conversation.ts';
import { isServed } from '../channels/terminal/control.ts';
import { OperatorError } from '../core/errors.ts';
import { nobodyKnown, openGates, type KnownPeople } from '../operator/access/explain-access.ts';
import type { Ruling } from '../operator/access/ruling.ts';
import { runAccessTests } from '../operator/access/run-access-tests.ts';
import { askBot } from './ask-bot.ts';
import type { Shared } from './command.ts';
import { print, printJson } from './console.ts';
import { openOperatorConfig } from './open-config.ts';
import { noSuchSkill, quietLog, skillsHere, writtenApprovals } from './skills-here.ts';

type Asked = Shared &
  Readonly<{
    user: string;
    chat?: string;
    as?: SeenChatType;
    external?: boolean;
    unaddressed?: boolean;
    skill?: string;
  }>;

/** Says who may do what where, by which rule, and what would change it (L13). Exit 1 for a denial. */
export async function explainAccess(asked: Asked): Promise<void> {
  const { config: flag, json, user: who, chat: where, as: chatType, external, unaddressed, skill } = asked;
  const config = await openOperatorConfig(flag);
  const { skills, names } = await skillsHere(config, () => writtenApprovals(config, flag));
  if (skill !== undefined && !names.includes(skill)) throw noSuchSkill(skill, names);
  const gates = await openGates(config, { skills, people: await knownPeople(config, flag), log: quietLog });
  try {
    const found = await gates.explain({ who, where, chatType, external, unaddressed, skill });
    const { talk, skills: rulings } = found;
    const asksSkill = skill === undefined ? undefined : rulings[0]?.ruling;
    if (!talk.allowed || asksSkill?.allowed === false) process.exitCode = 1;
    const unread = who.startsWith('slack:') ? slackUserGroups(config) : [];
    if (json === true) return printJson({ ...found, unread });
    const place = where === undefined || where === who ? 'in a direct message' : `in ${where}`;
    print(paragraph(`${who} ${talk.allowed ? 'may' : 'may not'} talk to the bot ${place}`, talk));
    const intro = talk.allowed ? '' : 'if they might talk, ';
    for (const { name, ruling } of rulings)
      if (skill === undefined)
        print(`  ${ruling.allowed ? '✓' : '✗'} ${name}${ruling.allowed ? '' : `: ${ruling.reason}`}`);
      else print(paragraph(`${intro}${who} ${ruling.allowed ? 'may' : 'may not'} use ${name} there`, ruling));
    if (unread.length > 0)
      print(`Not counted: ${unread.join(', ')}. Only a running bot asks Slack who is in a user group.`);
  } finally {
    await gates.close();
  }
}

/** Holds the config against a file of expectations (L14). Exit 1 if one fails. */
export async function testAccess({
  config: flag,
  json,
  file,
}: Shared & Readonly<{ file?: string }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const place = file === undefined ? defaultFile(config) : path.resolve(file);
  const { skills } = await skillsHere(config);
  const results = await runAccessTests(config, { tests: readAccessTests(place), skills, log: quietLog });
  const failed = results.filter(({ passed }) => !passed);
  if (failed.length > 0) process.exitCode = 1;
  if (json === true) return printJson({ ok: failed.length === 0, results });
  for (const { what, expected, passed, ruling } of results) {
    print(`${passed ? '✓' : '✗'} ${what}: ${expected}`);
    if (!passed) print(detail(ruling).join('\n'));
  }
  print(`${results.length - failed.length} of ${results.length} as expected.`);
}

function defaultFile({ path: config }: Config): string {
  if (config === undefined)
    throw new OperatorError('Name the file of expectations: there is no config to look beside.');
  return accessTestsOf(config);
}

function paragraph(said: string, ruling: Ruling): string {
  return [`${said}.`, ...detail(ruling)].join('\n');
}

function detail({ code, reason, rule, change }: Ruling): readonly string[] {
  const place =
    rule?.path === undefined ? '' : ` (${rule.path}${rule.line === undefined ? '' : `:${rule.line}`})`;
  return [
    `  Because: ${code === undefined ? '' : `${code}: `}${reason}`,
    ...(rule === undefined ? [] : [`  Rule: ${rule.name}${place}`]),
    ...(change === undefined ? [] : [`  To change that: ${change}`]),
  ];
}

/** Looking makes no store. */
async function knownPeople(config: Config, flag: string | undefined): Promise<KnownPeople> {
  const file = /^sqlite:(.+)$/s.exec(config.store.url)?.[1];
  if (file !== undefined && !existsSync(file) && !(await isServed(config.bot.dataDir))) return nobodyKnown;
  return askBot(flag, 'pair list');
}
