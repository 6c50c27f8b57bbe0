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

/**
 * Reads what stands after a mention of the bot (I1): `/NAME text`, `!NAME text` and `NAME: text` are calls. Any other words are
 * `bare`: a sentence that may begin with a built-in word, and that calls no skill.
 */
export function parseAddressed(text: string): Command | undefined {
  const marked = parseCommand(text.replace(/^(\s*)!/, '$1/'));
  if (marked !== undefined) return { name: marked.name, args: marked.args };
  const [, name, args] = /^\s*([^\s:]{1,64}):\s+(\S[^]*)$/.exec(text) ?? [];
  const called = name === undefined ? undefined : parseCommand(`/${name} ${args}`);
  const command = called ?? parseCommand(`/${text}`);
  if (command === undefined) return undefined;
  return { name: command.name, args: command.args, ...(called === undefined ? { bare: true } : {}) };
}
