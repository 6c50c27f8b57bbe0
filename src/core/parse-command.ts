import type { Command } from './message.ts';

const commandPattern = /^\s*\/([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*)(?:@(\w+))?(?:\s+([^]*))?$/u;

/**
 * Reads `/name args` or `/name@bot args` at the start of a text: `name` in lower case, `args` trimmed with their
 * inner newlines kept, `bot` as it was written. Nothing when the text is no command (`/etc/hosts`, `/`, `// note`).
 */
export function parseCommand(text: string): (Command & Readonly<{ bot?: string }>) | undefined {
  const found = commandPattern.exec(text);
  if (found?.[1] === undefined) return undefined;
  const command = { name: found[1].toLowerCase(), args: found[3]?.trim() ?? '' };
  return found[2] === undefined ? command : { ...command, bot: found[2] };
}
