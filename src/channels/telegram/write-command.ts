/**
 * A command as Telegram makes it a link: outside of code, `-` as `_`. One that needs more words is code, which a tap copies:
 * as a link it would be sent without them.
 */
export function writeCommand(name: string, args = ''): string {
  const tappable = name.toLowerCase().replaceAll('-', '_');
  const isLink = /^[a-z0-9_]{1,32}$/.test(tappable);
  if (args === '' && isLink) return `/${tappable}`;
  return isLink ? `\`/${tappable} ${args}\`` : `\`${`/skill ${name} ${args}`.trim()}\``;
}
