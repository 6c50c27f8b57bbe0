import { printable } from './printable.ts';

/** Text as a block of code in Markdown that it can't end, what could deceive an eye written as `\u{200b}`. */
export function codeBlock(text: string): string {
  const shown = text.replace(/\n$/, '').split('\n').map(printable).join('\n');
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}
