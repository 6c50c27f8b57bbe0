import type { Entity } from './entity.ts';

const mentionPattern = /(?<![\p{L}\p{N}_])@([A-Za-z0-9_]{2,32})(?![\p{L}\p{N}_])/gu;
const commandPattern =
  /(?<![\p{L}\p{N}_/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\p{L}\p{N}_/<>])/gu;
const urlPattern = /(?<![\p{L}\p{N}_@./])https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/gu;

/** Names below four characters are taken by a few bots of the platform's own. */
const shortNames = ['gif', 'pic', 'vid', 'ya'];

/** What the platform finds in a text by itself: mentions, commands, links. */
export function detectEntities(text: string): readonly Entity[] {
  const found: Entity[] = [];
  for (const match of text.matchAll(mentionPattern)) {
    const name = (match[1] ?? '').toLowerCase();
    if (name.length > 3 || shortNames.includes(name)) found.push(entity('mention', match));
  }
  for (const match of text.matchAll(commandPattern)) found.push(entity('bot_command', match));
  for (const match of text.matchAll(urlPattern)) found.push(entity('url', match));
  return found;
}

function entity(type: Entity['type'], match: RegExpExecArray): Entity {
  return { type, offset: match.index, length: match[0].length };
}
