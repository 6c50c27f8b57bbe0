import { escapeText } from './plain-text.ts';
import { textsIn } from '../texts-in.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The words of Block Kit blocks in Slack's markup, with mentions, links and dates as in the text of a message. */
export function blocksMarkup(blocks: readonly unknown[] | null | undefined): string {
  return textsIn(blocks, leafMarkup, markOf);
}

/** Writes a piece of text. Only `mrkdwn` text arrives already escaped. */
function leafMarkup(text: string, { type, url }: Fields): string {
  if (type === 'mrkdwn') return text;
  const words = escapeText(text);
  return type === 'link' && typeof url === 'string' && url !== text ? `<${escapeText(url)}|${words}>` : words;
}

/** Writes elements of rich text that carry an id instead of words, and pictures, which carry a description. */
function markOf(fields: Fields): string | undefined {
  const told = (key: string): string => (typeof fields[key] === 'string' ? fields[key] : '');
  switch (fields['type']) {
    case 'user':
      return `<@${told('user_id')}>`;
    case 'channel':
      return `<#${told('channel_id')}>`;
    case 'usergroup':
      return `<!subteam^${told('usergroup_id')}>`;
    case 'broadcast':
      return `<!${told('range')}>`;
    case 'emoji':
      return `:${told('name')}:`;
    case 'date':
      return escapeText(told('fallback'));
    case 'image':
      return `[${escapeText(told('alt_text') || 'picture')}]`;
    default:
      return undefined;
  }
}
