import type { ToolTable } from '../core/built-in-tools.ts';
import type { Diagnostic } from '../core/codes.ts';
import type { Skill } from '../core/skill.ts';
import { readAllowedEntry } from './allowed-entry.ts';
import type { AllowedTools } from './allowed-tools.ts';
import { isGlob, matchesGlob } from './policy.ts';

/** What a skill's `disallowed-tools` take away (F11). */
export type Disallowed = Readonly<{
  tool(name: string): boolean;
  call(name: string, input: unknown): boolean;
}>;

/** `allowed` without what a skill disallows. */
export function withoutDisallowed(allowed: AllowedTools, entries: readonly string[] = []): AllowedTools {
  if (entries.length === 0) return allowed;
  const disallowed = readDisallowed(entries);
  return Object.freeze({
    ...allowed,
    names: allowed.names.filter((name) => !disallowed.tool(name)),
    allows: (name: string, input: unknown) => allowed.allows(name, input) && !disallowed.call(name, input),
  });
}

/**
 * Reads the entries. `Bash` also takes away the skill's scripts. `Bash(git push:*)` takes away every command that has
 * these words in this order, anywhere, and every command whose words only a shell knows (`$X`, backticks, patterns).
 */
export function readDisallowed(entries: readonly string[]): Disallowed {
  const rules = entries.flatMap(rulesOf);
  const tool = (name: string): boolean =>
    rules.some(({ pattern, words }) => words === undefined && matches(pattern, name));
  return {
    tool,
    call(name, input) {
      if (tool(name)) return true;
      const command = commandOf(input);
      if (name !== 'bash' || command === undefined) return false;
      const limits = rules.flatMap(({ words }) => words ?? []);
      return limits.length > 0 && (isOpaque(command) || limits.some((words) => holds(command, words)));
    },
  };
}

/** Warns of entries that no tool of this bot matches. `others` are tools beside the built-in ones. */
export function unknownDisallowed(
  { path, disallowedTools = [] }: Skill,
  others: readonly string[],
  builtInTools: ToolTable,
): readonly Diagnostic[] {
  const known = [...builtInTools.names(), ...others];
  return disallowedTools.flatMap((entry) => {
    const rules = rulesOf(entry);
    const isKnown = rules.some(({ pattern }) => known.some((name) => matches(pattern, name)));
    if (isKnown || foreign.test(entry) || rules.some(({ pattern }) => pattern.startsWith('mcp_'))) return [];
    const message = `disallowed_tools: ${entry} takes nothing away: no tool is called that`;
    return [{ level: 'warning', code: 'DISALLOWED_TOOLS_UNKNOWN', message, path, field: 'disallowed_tools' }];
  });
}

/** Tools of other programs that this bot does not have. */
const foreign =
  /^(?:Notebook|Todo|Task|Exit|Enter|Kill|Bash|Monitor|Cron|Skill|LSP|Tool|Team|Send|List|Plan)[A-Za-z]*$/;

type Rule = Readonly<{ pattern: string; words?: readonly (readonly string[])[] }>;

function rulesOf(entry: string): readonly Rule[] {
  const [, name = '', inside] = /^([^()]*)(?:\(([^]*)\))?$/u.exec(entry.trim()) ?? [];
  // Other programs write `mcp__server__tool`; a server alone means all its tools.
  const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
  if (server !== undefined) return [{ pattern: `mcp_${server}_${tool ?? '*'}` }];
  const read = readAllowedEntry(name);
  const pattern = read.kind === 'name' ? read.pattern : name;
  const more = pattern === 'bash' ? ['skills_run_script'] : (alsoMeant[name] ?? []);
  const rule = inside?.trim() ?? '';
  // Only commands can be limited in part; any other tool is taken away as a whole.
  if (pattern !== 'bash' || /^(?:|:?\*)$/.test(rule))
    return [pattern, ...more].map((each) => ({ pattern: each }));
  const words = tokensOf(rule.replace(/:\*$/, '').replaceAll('*', ' '));
  return words.length === 0
    ? [pattern, ...more].map((each) => ({ pattern: each }))
    : [{ pattern, words: [words] }];
}

/** Taking away one of these also takes away the other ways to the same effect. */
const alsoMeant: Readonly<Record<string, readonly string[]>> = {
  MultiEdit: ['write_file'],
  NotebookEdit: ['write_file'],
  Agent: ['use_skill'],
  Task: ['use_skill'],
  Skill: ['use_skill'],
};

function matches(pattern: string, name: string): boolean {
  return isGlob(pattern) ? matchesGlob(pattern, name) : pattern === name;
}

/** The words that a shell would see, without quotes, operators and folders. */
function tokensOf(command: string): readonly string[] {
  return command
    .replace(/["'\\]/g, '')
    .split(/[\s;&|()<>{}=,!]+/)
    .filter((word) => word !== '')
    .map((word) => word.slice(word.lastIndexOf('/') + 1));
}

function holds(command: string, words: readonly string[]): boolean {
  let next = 0;
  for (const word of tokensOf(command)) if (word === words[next]) next += 1;
  return next === words.length;
}

/** Whether the words are known only when the command runs. */
function isOpaque(command: string): boolean {
  return /[$`*?[\]~\\]|\beval\b|\bbase64\b|\bxxd\b/.test(command);
}

function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('command' in input)) return undefined;
  return typeof input.command === 'string' ? input.command : undefined;
}
