import type { Diagnostic } from '../../core/codes.ts';
import { asTypedHere } from '../../core/skillet-here.ts';
import type { FindingReason } from '../../features/kit.ts';
import { featureReasons } from '../../features/list.ts';
import type { SlipCode } from '../check-people.ts';
import type { StartCode } from '../check-start.ts';
import { startReasons } from './start-reasons.ts';

/** Codes that the checks before a start do not have. */
type OtherCode =
  | SlipCode
  | 'NODE_OLD'
  | 'CLOCK_WRONG'
  | 'CONFIG_MISSING'
  | 'CONFIG_INVALID'
  | 'START_REFUSED'
  | 'DATA_READABLE'
  | 'DISK_LOW'
  | 'FILES_FEW'
  | 'NO_CHANNEL'
  | 'NO_MODEL'
  | 'NO_OWNER'
  | 'OWNER_UNREACHABLE'
  | 'STORE_DAMAGED'
  | 'STORE_LOCKED'
  | 'STORE_LOST'
  | 'STORE_OLDER'
  | 'STORE_UNUSABLE'
  | 'SANDBOX_VIRTUAL'
  | 'SANDBOX_OFF'
  | 'SKILL_LACKS'
  | 'SKILL_UNKNOWN'
  | 'NAME_MISSING'
  | 'PROVIDER_UNUSED'
  | 'WEB_SEARCH_MISSING'
  | 'MENU_FULL'
  | 'CATALOGUE_SHORTENED'
  | 'DM_OPEN'
  | 'GROUPS_OPEN'
  | 'EVERYBODY'
  | 'NOBODY'
  | 'SENSITIVE_IN_GROUPS'
  | 'HOOK_CHANNEL'
  | 'HOOK_REFUSED'
  | 'TELEGRAM_REFUSED'
  | 'TELEGRAM_UNREACHABLE'
  | 'TELEGRAM_WEBHOOK'
  | 'TELEGRAM_PRIVACY'
  | 'SLACK_REFUSED'
  | 'SLACK_UNREACHABLE'
  | 'SLACK_SCOPES'
  | 'MODEL_FAILED'
  | 'MODEL_LACKS'
  | 'MCP_AWAY'
  | 'MCP_TOOLS_OFF';

/** By code, why a finding matters and what to do about it. */
const ownReasons: Readonly<Record<StartCode | OtherCode, FindingReason>> = {
  ...startReasons,
  NODE_OLD: {
    why: 'Skillet needs features of newer Node versions.',
    fix: 'Install a newer Node, or use `npm start`, which includes one.',
  },
  CLOCK_WRONG: {
    why: 'Codes expire, Slack refuses signed requests, and retention deletes by this clock.',
    fix: 'Set the clock, for example with `timedatectl set-ntp true`.',
  },
  CONFIG_MISSING: {
    why: 'Without a file the bot chats in this terminal only.',
    fix: 'Run `skillet init`.',
  },
  CONFIG_INVALID: {
    why: 'The bot does not start until the config is valid.',
    fix: 'Correct that line. A running bot keeps its last valid config.',
  },
  START_REFUSED: {
    why: 'The bot does not start until this is fixed.',
    fix: 'Do what the message says.',
  },
  DATA_READABLE: {
    why: 'That folder holds conversations, keys and the audit.',
    fix: 'Run `skillet doctor --fix`, or chmod 700 that folder. `start` closes it, too.',
  },
  DISK_LOW: {
    why: 'Below 500 MB the bot fetches no files; on a full disk it accepts no messages.',
    fix: 'Free space, or lower [bot] retention_days.',
  },
  FILES_FEW: {
    why: 'The bot holds some 40 open files at rest and two more for each busy chat. Without a free one it can’t answer.',
    fix: 'Raise the limit: `ulimit -n 4096` before the start, LimitNOFILE=4096 in a unit of systemd.',
  },
  NO_CHANNEL: {
    why: '`skillet start` then opens a chat in the terminal and nothing else.',
    fix: 'Run `skillet init`, or write [telegram] token or [slack] bot_token into the config.',
  },
  NO_MODEL: {
    why: 'Without a model the bot can only run skills by name.',
    fix: 'Write ANTHROPIC_API_KEY into .env, or [models.default] into the config.',
  },
  NO_OWNER: {
    why: 'Nobody can approve people, groups or risky calls, and nobody hears of trouble.',
    fix: 'Run `skillet pair claim` and send the bot what it prints, or write [bot] owner.',
  },
  APPROVER_NO_USER: {
    why: 'The bot refuses their answers, because they may not talk to it.',
    fix: 'Write them into [access] users, too, or approve them in a chat.',
  },
  FOUR_EYES_ALONE: {
    why: 'Every call under this rule is refused: it needs a yes from an approver who did not ask for it.',
    fix: 'Write another person into [policy] approvers and [access] users, or remove four_eyes.',
  },
  FOLDER_MISSING: {
    why: 'The bot reads nothing from a missing folder.',
    fix: 'Create the folder, or correct the path in the config.',
  },
  OWNER_UNREACHABLE: {
    why: 'Questions and notices for this owner are lost.',
    fix: 'Let them write to the bot once; or correct [bot] owner.',
  },
  STORE_DAMAGED: {
    why: 'The data in damaged pages is lost, and each call that reads them fails. If a journal ends early, its last writes are lost.',
    fix: 'Check the disk. After a journal that ended early you can continue with what is left. Otherwise stop the bot and restore a backup: `skillet restore FILE --store-only`.',
  },
  STORE_LOCKED: {
    why: 'Two bots on one store would answer everything twice, so the second one does not start.',
    fix: 'Stop the process that the message names, or use another [store] url.',
  },
  STORE_LOST: {
    why: 'The store held people, approvals, routines and conversations, and it is gone. The bot does not start without it.',
    fix: 'Restore a backup: `skillet restore FILE --store-only`. To start empty on purpose, move the folder of the audit away.',
  },
  STORE_OLDER: {
    why: 'The next start changes the schema. An older Skillet can’t read an SQLite file after that; on PostgreSQL it can, unless the changelog names a removal.',
    fix: 'Copy the store first: `skillet backup FILE`.',
  },
  STORE_UNUSABLE: {
    why: 'Without its store the bot does not start.',
    fix: 'Do what the message says, or restore a backup: `skillet restore FILE --store-only`.',
  },
  SANDBOX_VIRTUAL: {
    why: 'Scripts that need Python, Node or other programs of this machine do not run.',
    fix: 'Install bubblewrap (`apt-get install bubblewrap`), or use [sandbox] mode = "docker".',
  },
  SANDBOX_OFF: {
    why: 'Skills run with all rights of the bot, over its files and its network.',
    fix: 'Remove mode = "off" from [sandbox].',
  },
  SKILL_LACKS: {
    why: 'Nobody can use this skill until it has what it needs.',
    fix: 'Do what the message says.',
  },
  NAME_MISSING: {
    why: 'The skill works here by the name of its folder. Other programs may refuse it.',
    fix: 'To share the skill, write name: with the name of its folder.',
  },
  SKILL_UNKNOWN: {
    why: 'With a misspelt name, a skill runs without the rules that you wrote for it.',
    fix: 'Correct the name, or remove the table.',
  },
  PROVIDER_UNUSED: {
    why: 'Skills that need this capability say that it is not available.',
    fix: 'Correct the table under [capabilities.providers].',
  },
  WEB_SEARCH_MISSING: {
    why: 'The model answers from its own knowledge, which may be out of date.',
    fix: 'Optional: do what the message says.',
  },
  MENU_FULL: {
    why: 'Telegram shows 100 commands at most; the others work and are not suggested.',
    fix: 'Disable skills that nobody uses: [skills.NAME] enabled = false.',
  },
  CATALOGUE_SHORTENED: {
    why: 'The model sees less of each skill and chooses worse.',
    fix: 'Disable skills, write shorter descriptions, or raise [prompt] skills_budget_chars.',
  },
  DM_OPEN: {
    why: 'Anybody who finds the bot spends your tokens and may start skills.',
    fix: 'Write dm = "pairing".',
  },
  GROUPS_OPEN: {
    why: 'Anybody may add the bot to a group and have it answer there.',
    fix: 'Write groups_mode = "allowlist", and list the groups.',
  },
  EVERYBODY: {
    why: 'Everybody in your Slack workspace may talk to the bot, new members included.',
    fix: 'If you mean fewer, list people by id.',
  },
  NOBODY: {
    why: 'An empty list admits nobody.',
    fix: 'List ids, or remove the line.',
  },
  SENSITIVE_IN_GROUPS: {
    why: 'Its results are private, and everybody in the group reads them.',
    fix: 'Write chat_types = ["private"] below that skill.',
  },
  HOOK_CHANNEL: {
    why: 'The bot answers the sender with 503 and drops its events.',
    fix: 'Correct `conversation` of that hook, or write the token of its channel into the config.',
  },
  HOOK_REFUSED: {
    why: 'The bot refuses the events of this hook with 403.',
    fix: 'Correct `as` and `conversation` of that hook, or admit the person there: [access].',
  },
  TELEGRAM_REFUSED: {
    why: 'The bot can’t connect to Telegram.',
    fix: 'Copy the token again from @BotFather: /mybots, API Token.',
  },
  TELEGRAM_UNREACHABLE: {
    why: 'The bot waits until Telegram answers.',
    fix: 'Check the network, the line "network" of this report, and [telegram] api_root. Behind a proxy: docs/how-to/proxy.md.',
  },
  TELEGRAM_WEBHOOK: {
    why: 'Telegram delivers messages to another address, or that address refuses them.',
    fix: 'Stop the other program with this token. A start with mode = "polling" removes the address.',
  },
  TELEGRAM_PRIVACY: {
    why: 'In groups Telegram then delivers commands and replies only, no mentions.',
    fix: 'Send /setprivacy to @BotFather, choose Disable, then remove the bot from its groups and add it again.',
  },
  SLACK_REFUSED: {
    why: 'The bot can’t connect to Slack.',
    fix: 'Copy the token again from api.slack.com/apps, and install the app to the workspace.',
  },
  SLACK_UNREACHABLE: {
    why: 'The bot waits until Slack answers.',
    fix: 'Check the network, the line "network" of this report, and [slack] api_url. Behind a proxy: docs/how-to/proxy.md.',
  },
  SLACK_SCOPES: {
    why: 'Everything that needs a missing scope fails.',
    fix: 'Add the scopes under OAuth & Permissions, then install the app again. `skillet manifest slack` has them all, and the events, such as agent_session_stopped for the stop button.',
  },
  MCP_AWAY: {
    why: 'The tools of this server fail until the bot reaches it. The bot keeps trying.',
    fix: 'Do what the message says: start the server, or correct command, url or headers under [mcp]. See docs/how-to/mcp.md.',
  },
  MCP_TOOLS_OFF: {
    why: 'A server can change its tools at any time, so you review changes before models use them.',
    fix: 'Read them with `skillet mcp list`, then run `skillet mcp agree SERVER`.',
  },
  MODEL_FAILED: {
    why: 'People who write to the bot get an apology instead of an answer.',
    fix: 'Check api_key, model and base_url of that model.',
  },
  MODEL_LACKS: {
    why: 'People notice: without tool calls no skill starts, without pictures what they send is told in words, without a stream they wait.',
    fix: 'Choose another model for that alias, or live with it. For pictures write vision = false.',
  },
};

/** Skills and plugins have more codes, which their own messages explain. */
const ofSkills: Readonly<Record<Diagnostic['level'], FindingReason>> = {
  error: {
    why: 'This part of a skill or plugin is not loaded.',
    fix: 'Correct that line. `skillet skill validate FOLDER` checks a single skill.',
  },
  warning: {
    why: 'A skill or plugin is loaded, but part of it has no effect.',
    fix: 'Correct that line. `skillet skill validate FOLDER` checks a single skill.',
  },
  note: { why: 'The skill works here as it is.', fix: 'Nothing has to change.' },
};

/** The reasons of the doctor's own findings, and of those of features. */
export function allReasons(): ReadonlyMap<string, FindingReason> {
  return new Map([...Object.entries(ownReasons), ...Object.entries(featureReasons())]);
}

export function findingReason(code: string, level: Diagnostic['level']): FindingReason {
  const { why, fix } = allReasons().get(code) ?? ofSkills[level];
  return { why: asTypedHere(why), fix: asTypedHere(fix) };
}
