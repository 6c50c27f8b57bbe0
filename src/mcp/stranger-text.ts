import { defused } from '../lib/text/escape-labels.ts';

/**
 * Words of a stranger that stand in a prompt (M11): characters that steer or hide become spaces, labels are made harmless,
 * and `limit` characters are left. Line ends stay.
 */
export function strangerText(text: string, limit: number): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(unseen, ' ');
  return defused(plain, limit).text.trim();
}

/** Whether `strangerText` would leave it as it is: for what has to stay exact or go. */
export function isPlain(text: string, limit: number): boolean {
  return text.length <= limit && !/\n/.test(text) && strangerText(text, limit) === text.trim();
}

const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;
