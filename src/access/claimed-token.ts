import type { Message } from '../core/message.ts';

const claim = /^[/!]?(?:skill\s+)?[/!]?start\s+claim_([0-9a-f]{32})$/i;

/**
 * The token of a message that claims ownership (A10): `/start claim_…`, and what says the same where that is no command,
 * as on Slack: `/skill start claim_…`, `!start claim_…` and plain `start claim_…`.
 */
export function claimedToken({ command, text }: Pick<Message, 'command' | 'text'>): string | undefined {
  const asked = command === undefined ? text : `/${command.name} ${command.args}`;
  return claim.exec(asked.trim())?.[1]?.toLowerCase();
}
