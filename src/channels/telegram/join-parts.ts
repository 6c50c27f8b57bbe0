import type { Message as TelegramMessage } from 'grammy/types';
import type { Join } from '../../core/join.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';

/** All parts of an album come within a second. */
const albumHoldMs = 1000;

/** Clients cut a text at 4096 characters or a little before. */
const longPiece = 4000;

const fullPiece = 4096;

/** Pieces come at once, but the platform counts in seconds. */
const pieceGapMs = 2000;

const splitHoldMs = 1500;

export function albumOf({ media_group_id: group, chat }: TelegramMessage): string | undefined {
  return group === undefined ? undefined : `telegram:${chat.id}:album:${group}`;
}

/** How an album, or a text that the client may have cut, is joined (H3). */
export function joinOf(message: Message, album: string | undefined): Join | undefined {
  if (album !== undefined) return { key: album, holdMs: albumHoldMs, glue: () => '\n' };
  if (message.attachments.length > 0) return undefined;
  return {
    key: `${conversationKey(message.conversation)} ${message.sender.id}:text`,
    holdMs: isLong(message) ? splitHoldMs : 0,
    glue(last) {
      const gap = message.sentAt - last.sentAt;
      if (!isLong(last) || gap < 0 || gap > pieceGapMs) return undefined;
      // A full piece was cut inside a line; otherwise white space was trimmed.
      return last.text.length === fullPiece ? '' : '\n';
    },
  };
}

function isLong({ text, attachments }: Message): boolean {
  return text.length >= longPiece && attachments.length === 0;
}
