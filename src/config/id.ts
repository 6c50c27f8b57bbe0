import { asTypedHere } from '../core/skillet-here.ts';
import { z } from 'zod';

const channels = ['telegram', 'slack', 'terminal'];

const text = z.codec(
  z.union([z.string(), z.int()], { error: 'write an id such as "telegram:42", "slack:U042" or 42' }),
  z.string(),
  { decode: String, encode: (id) => id },
);

/** A bare or qualified id of a person, never a name (A9), or a group (A13). */
export const userId = text.superRefine((id, context) => {
  const wrong = wrongPeople(id);
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

const writtenTo = (like: (id: string) => string) =>
  text.superRefine((id, context) => {
    const bare = `the bot also writes to them, so write the channel too: ${like(id)}`;
    const wrong = wrongUser(id) ?? (id.includes(':') ? undefined : bare);
    if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
  });

/** A qualified id, because the bot also writes to owners (A9). */
export const ownerId = writtenTo(qualified);

/**
 * A qualified id of a person. The message does not quote what was written, because it may come from the environment
 * (S12).
 */
export const personId = writtenTo(() => '"telegram:42" or "slack:U042ABC"');

/** Like `userId`, or `slack:*` for everybody in the home workspace (A9). */
export const admittedUserId = text.superRefine((id, context) => {
  const wrong = id === 'slack:*' ? undefined : wrongPeople(id);
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/** Like `userId`, or `*` for everybody in admitted groups (A9). */
export const groupUserId = text.superRefine((id, context) => {
  const wrong = id === '*' ? undefined : wrongPeople(id, 'write "*" for everybody in the admitted groups');
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/** A person or a Slack user group, but no group of the config (A13). */
export const memberId = text.superRefine((id, context) => {
  const nested = id.startsWith('group:')
    ? 'a group has people and Slack user groups, no other group'
    : undefined;
  const wrong = nested ?? wrongPeople(id);
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/** The id of a group, not of a direct message: on Telegram its number is negative (A9). */
export const groupId = text.superRefine((id, context) => {
  const direct = /^(telegram:)?\d+$/.test(id)
    ? 'on Telegram the id of a group is negative, such as "telegram:-100123"; this one is a person\'s'
    : undefined;
  const wrong = wrongChat(id) ?? direct;
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/** The id of a chat, bare or with its channel (A4). */
export const chatId = text.superRefine((id, context) => {
  const wrong = wrongChat(id);
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

const findUser = (): string =>
  asTypedHere(
    'names change hands, so write the id: on Telegram it is in `skillet pair list` once the person has written to the bot; in Slack it is in the profile under "Copy member ID"',
  );
const findChat =
  "names change, so write the id: the bot's command `whoami` shows it in the chat; in Slack it is also at the end of the channel details";

function qualified(id: string): string {
  if (/^\d+$/.test(id)) return `"telegram:${id}"`;
  return /^[A-Z0-9]+$/.test(id) ? `"slack:${id}"` : '"telegram:42" or "slack:U042ABC"';
}

function wrongUser(id: string, forEverybody?: string): string | undefined {
  if (id.includes('*')) {
    const home = 'write "slack:*" in [access] users for the Slack home workspace';
    return `${forEverybody ?? home}, dm = "open" to let everybody write directly, or list the ids one by one`;
  }
  if (id.includes('@') || /^telegram:.*[^0-9-]/.test(id)) return findUser();
  if (/^(slack:)?[CDG](?=.*\d)[A-Z0-9]{5,}$/.test(id))
    return `that is the id of a Slack channel, and this list is of people; ${findUser()}`;
  if (/^telegram:-?\d+$/.test(id) || /^slack:[A-Z0-9]+$/.test(id)) return undefined;
  if (id.startsWith('slack:')) return `Slack ids look like "slack:U042ABC", in capitals; ${findUser()}`;
  return wrongForm(id, '"telegram:42" or "slack:U042ABC"', findUser());
}

function wrongPeople(id: string, forEverybody?: string): string | undefined {
  if (id.startsWith('group:') || isSlackUserGroup(id)) return undefined;
  if (!id.startsWith(slackUserGroup)) return wrongUser(id, forEverybody);
  return 'a user group of Slack is written by its id: "slack:usergroup:S042ABC"; it stands at the end of its address in Slack';
}

const slackUserGroup = 'slack:usergroup:';

/** Whether an id is that of a Slack user group, such as `slack:usergroup:S042ABC` (A13). */
export function isSlackUserGroup(id: string): boolean {
  return /^slack:usergroup:S[A-Z0-9]+$/.test(id);
}

/** What to write instead of this id; undefined if it is the id of a chat. */
export function wrongChat(id: string): string | undefined {
  if (id.includes('*')) return 'write groups_mode = "open" to admit every group, or list the ids one by one';
  if (/[@#]/.test(id) || /^telegram:.*[^0-9-]/.test(id)) return findChat;
  if (/^(slack:)?[UW](?=.*\d)[A-Z0-9]{5,}$/.test(id))
    return `that is the id of a person in Slack, and this list is of chats; ${findChat}`;
  if (/^(group:|slack:usergroup:)/.test(id)) return 'a group of people is no chat: write the id of a chat';
  if (/^telegram:-?\d+$/.test(id) || /^slack:[A-Z0-9]+$/.test(id)) return undefined;
  if (id.startsWith('slack:')) return `Slack ids look like "slack:C042ABC", in capitals; ${findChat}`;
  return wrongForm(id, '"telegram:-100123" or "slack:C042ABC"', findChat);
}

/**
 * Why an id has the wrong form. A bare id is a number of Telegram, or has capitals and a digit as in Slack; a bare word
 * is a name.
 */
function wrongForm(id: string, example: string, find: string): string | undefined {
  const [channel, rest] = id.includes(':')
    ? [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)]
    : [];
  if (channel !== undefined && !channels.includes(channel)) {
    return `what stands before the colon is one of ${channels.join(', ')}: write ${example}`;
  }
  if (/\s/.test(id) || id === '' || rest === '') return `write an id such as ${example}`;
  const isId = /^-?\d+$/.test(id) || /^(?=.*\d)[A-Z][A-Z0-9]*$/.test(id);
  if (channel === undefined && !isId)
    return `that is a name, and the bot knows people and chats by their ids; ${find}`;
  return undefined;
}
