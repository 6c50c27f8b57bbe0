import { badge } from './elements.ts';
import type { Html } from '../lib/text/html.ts';

/** Codes of decisions and events as words. The codes stay in titles, because logs and scripts have them. */
const words: Readonly<Record<string, string>> = {
  STRANGER: 'does not know this person',
  NOT_ALLOWED: 'is not allowed to talk here',
  NOT_ADDRESSED: 'the message was not for the bot',
  CHAT_NOT_ALLOWED: 'this group is not allowed',
  OUTSIDER: 'from another company',
  BOT: 'is a bot',
  SKILL_NOT_FOUND: 'no such skill',
  SKILL_DISABLED: 'the skill is off',
  SKILL_NOT_AVAILABLE_HERE: 'the skill is not for this person or chat',
  SKILL_UNAVAILABLE: 'the skill lacks programs',
  SKILL_MISCONFIGURED: 'the skill is not set up',
  MISSING_ENV: 'a setting is missing',
  CAPABILITY_UNAVAILABLE: 'the linked system is away',
  ARGUMENTS_INVALID: 'wrong arguments',
  TOOL_NOT_ALLOWED: 'the tool is not allowed here',
  TOOL_POLICY_DENIED: 'refused by policy',
  TOOL_CONFIRMATION_REQUIRED: 'nobody approved it',
  TOOL_FAILED: 'the tool failed',
  TOOL_OUTPUT_TOO_LARGE: 'the output was too large',
  MAX_ITERATIONS: 'too many model calls',
  MODEL_ERROR: 'the model failed',
  LIMIT_REACHED: 'a limit was reached',
  SCRIPT_FAILED: 'the script failed',
  SCRIPT_TIMEOUT: 'the script took too long',
  RECURSION_LIMIT: 'too many skills inside each other',
  INTERNAL_ERROR: 'an error inside the bot',
  tool_call: 'Tool call',
  tool_call_blocked: 'Tool call blocked',
  run: 'Skill run',
  approval: 'Approval',
  standing_rule: 'Standing approval',
  memory: 'Note',
  setting_changed: 'Setting changed',
  capability_call: 'Linked system called',
  capability_sign_in: 'Account linking',
  capability_revoked: 'Account unlinked',
  asked_again: 'Asked again',
  message_refused: 'Message refused',
  hook: 'Webhook',
  skill_refused: 'Skill refused',
  routine: 'Routine',
  pairing: 'Person',
  group: 'Group',
  mcp_agreed: 'MCP tools approved',
  config_changed: 'Config changed',
  skills_changed: 'Skills changed',
  skills_installed: 'Skills installed',
  skills_removed: 'Skills removed',
  forgotten: 'Person forgotten',
  lines_missing: 'Lines missing',
  unanswered: 'no answer yet',
  needs_input: 'waits for an answer',
  partial: 'partly done',
};

/** The words for a code. One that is not in the table is written with spaces. */
export function plainCode(code: string): string {
  if (Object.hasOwn(words, code)) return words[code] ?? code;
  return /^[A-Za-z]+(_[A-Za-z]+)+$/.test(code) ? code.toLowerCase().replaceAll('_', ' ') : code;
}

const bad = /failed|denied|error|refused|expired|blocked|^[A-Z][A-Z_]+$/;
const good = /^(ok|approved|allowed|done|noted|added|enabled|owner|paired|resumed|fired|completed)$/;

/** A code as a mark in words, with the code in its title. */
export function codeMark(code: string): Html {
  const tone = good.test(code) ? 'yes' : bad.test(code) ? 'no' : 'quiet';
  return badge(tone, plainCode(code), code);
}
