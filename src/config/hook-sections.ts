import { z } from 'zod';
import type { Conversation } from '../core/conversation.ts';
import { personId, wrongChat } from './id.ts';
import { section, type Complain } from './section.ts';

export const shortestSecret = 16;
const longestPrompt = 4_000;

/** The id of a chat with its channel. A thread or topic follows after a slash. */
export const place = z.string().superRefine((id, context) => {
  const [chat = '', thread, ...more] = id.split('/');
  const form =
    'write channel and id, such as "telegram:-100123" or, for a topic or thread, "telegram:-100123/7"';
  const isWhole = chat.includes(':') && thread !== '' && more.length === 0;
  const wrong = chat.includes(':') ? (wrongChat(chat) ?? (isWhole ? undefined : form)) : form;
  if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
});

/** One `[[hooks]]`: a webhook by which events reach the bot (N7). */
export const hook = section({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
    error: 'a name of a hook has lower-case letters, digits, - and _',
  }),
  secret: z.string().min(shortestSecret, {
    error: `write a secret of ${shortestSecret} characters or more, such as what "openssl rand -hex 32" prints`,
  }),
  signature: z.enum(['standard', 'github']).default('standard'),
  conversation: place,
  as: personId,
  prompt: z
    .string()
    .min(1)
    .max(longestPrompt)
    .default('Say in a few words what happened and, if somebody has to act, what to do.'),
});

export function checkHookNames(table: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { hooks } = table;
  if (!Array.isArray(hooks)) return;
  const names = hooks.map((each: unknown) => (each as Readonly<{ name?: unknown }> | null)?.name);
  for (const [index, name] of names.entries()) {
    if (typeof name === 'string' && names.indexOf(name) < index)
      complain(['hooks', index, 'name'], `another hook has this name: write another one`);
  }
}

export function conversationOf(place: string): Conversation {
  const [chatId = '', thread] = place.split('/');
  const end = chatId.indexOf(':');
  const chat = { channel: chatId.slice(0, end), chat: chatId.slice(end + 1) };
  return thread === undefined ? chat : { ...chat, thread };
}
