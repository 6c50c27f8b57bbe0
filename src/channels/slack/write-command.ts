import type { Conversation } from '../../core/conversation.ts';
import type { SlackIdentity } from './slack-identity.ts';

/** A command as Slack takes it: under the one registered name, and in threads, which take none, after a mention. */
export function writeCommand(
  me: Pick<SlackIdentity, 'command' | 'name'> = { command: '/skill' },
  { thread }: Pick<Conversation, 'thread'>,
  name: string,
  args?: string,
): string {
  // `/skill skill NAME` would be a word too many.
  const words = `${name === 'skill' ? '' : name} ${args ?? ''}`.trim();
  if (thread === undefined) return `\`${me.command} ${words}\``;
  const bot = `@${me.name ?? 'bot'}`;
  return args === undefined ? `\`${bot} ${name}\`` : `\`${`${bot} /${name} ${args}`.trim()}\``;
}
