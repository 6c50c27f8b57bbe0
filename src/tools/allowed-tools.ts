import type { WarningCode } from '../core/codes.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import { fail, type Envelope } from '../core/envelope.ts';
import type { Tool } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';
import { coversCommand, readAllowedEntry, type AllowedEntry, type CommandPattern } from './allowed-entry.ts';
import { isGlob, matchesGlob } from './policy.ts';
import { parseSimpleCommand } from './own-script.ts';

/** The tools and commands that may be called now. */
export type CallLimits = Readonly<{
  /** Names of the tools that the model is shown, sorted. */
  names: readonly string[];
  /** Patterns of the commands that `bash` may run. Undefined: any command. */
  commands?: readonly string[];
  allows(name: string, input: unknown): boolean;
}>;

/** What one loop may call. Fixed when the loop starts (T5). */
export type AllowedTools = CallLimits & Readonly<{ warnings: Envelope['warnings'] }>;

export type AllowedToolsResult =
  | (Readonly<{ ok: true }> & AllowedTools)
  | Readonly<{ ok: false; code: 'SKILL_MISCONFIGURED'; message: string; warnings: Envelope['warnings'] }>;

export function allToolsAllowed(tools: readonly string[]): AllowedTools {
  return allowedToolsOf(tools, []);
}

/**
 * What a skill's `allowed_tools` permits, within what the host allows runs (T5). Without a list, all tools are allowed
 * that need not be named. A list with any shell keeps the skill's own scripts.
 */
export function parseAllowedTools(
  allowedTools: readonly string[] | undefined,
  hostTools: readonly string[],
  options: Readonly<{
    builtInTools: ToolTable;
    invalid: 'error' | 'baseline' | 'ignore';
    /** Names of tools that exist, although perhaps not for this run. */
    elsewhere?: readonly string[];
    startsOwnScript?: StartsOwnScript;
  }>,
): AllowedToolsResult {
  const { builtInTools, startsOwnScript } = options;
  const baseline = hostTools.filter((name) => builtInTools.row(name)?.runs === 'kept');
  // Patterns and missing lists leave out tools that start other skills (U7) or write skills (D9).
  const everything = hostTools.filter((name) => builtInTools.row(name)?.runs !== 'named');
  if (allowedTools === undefined || allowedTools.length === 0)
    return { ok: true, ...allowedToolsOf(everything, []) };
  return limitAllowedTools(allowedTools, {
    granted: hostTools,
    baseline,
    everything,
    known: knownTools([...hostTools, ...(options.elsewhere ?? [])], builtInTools),
    invalid: options.invalid,
    whom: 'runs',
    builtInTools,
    startsOwnScript,
  });
}

export function knownTools(offered: readonly string[], builtInTools: ToolTable): readonly string[] {
  return [...new Set([...builtInTools.names(), ...offered])];
}

/** Applies a list that is not empty to `granted` (T5). */
export function limitAllowedTools(
  allowedTools: readonly string[],
  options: Offered &
    Readonly<{
      baseline: readonly string[];
      everything: readonly string[];
      invalid: 'error' | 'baseline' | 'ignore';
      startsOwnScript?: StartsOwnScript;
    }>,
): AllowedToolsResult {
  const { granted, baseline, everything, known, invalid, builtInTools } = options;
  const entries = allowedTools.map((written) => ({ written, entry: readAllowedEntry(written) }));
  const warnings = entries.flatMap(({ written, entry }) => warningsOf(written, entry, options));
  if (!entries.some(({ entry }) => namedBy(entry, known, builtInTools).length > 0)) {
    const whys = entries.flatMap(({ entry }) => (entry.kind === 'unenforceable' ? [entry.reason] : []));
    const why = whys.length === 0 ? '' : ` (${[...new Set(whys)].join('; ')})`;
    const found = `allowed_tools names no tool that exists: ${allowedTools.join(', ')}${why}`;
    if (invalid === 'error') {
      return {
        ok: false,
        code: 'SKILL_MISCONFIGURED',
        message: `${found}. Tools here: ${granted.join(', ')}`,
        warnings,
      };
    }
    if (invalid === 'baseline') return { ok: true, ...allowedToolsOf(baseline, warnings) };
    const ignored = {
      code: 'ALLOWED_TOOLS_IGNORED',
      message: `${found} (NO_MATCHES): not enforced`,
    } as const;
    return { ok: true, ...allowedToolsOf(everything, [...warnings, ignored]) };
  }
  const listed = entries.flatMap(({ entry }) => namedBy(entry, granted, builtInTools));
  const scripts = entries.some(({ entry }) => isShell(entry)) ? granted.filter(isRunScript) : [];
  const commands = entries.flatMap(({ entry }) => (entry.kind === 'command' ? [entry.pattern] : []));
  const unlimited = entries.some(({ entry }) => allowsAnyBash(entry));
  const starts = scripts.length === 0 ? undefined : options.startsOwnScript;
  const limits = unlimited ? undefined : { commands, starts };
  return { ok: true, ...allowedToolsOf([...baseline, ...listed, ...scripts], warnings, limits) };
}

type StartsOwnScript = (command: string) => boolean;

function isRunScript(name: string): boolean {
  return name === 'skills_run_script';
}

/** Entries for tools that exist but are not `offered` (U8). */
export function namedElsewhere(
  allowedTools: readonly string[],
  offered: readonly string[],
  { elsewhere = [], builtInTools }: Readonly<{ elsewhere?: readonly string[]; builtInTools: ToolTable }>,
): readonly string[] {
  const known = knownTools([...offered, ...elsewhere], builtInTools);
  return allowedTools.filter((written) => {
    const entry = readAllowedEntry(written);
    return (
      namedBy(entry, known, builtInTools).length > 0 && namedBy(entry, offered, builtInTools).length === 0
    );
  });
}

/** Those of `names` that a list gives by name. Patterns do not count. */
export function namesListed(
  allowedTools: readonly string[] = [],
  names: readonly string[],
): readonly string[] {
  const entries = allowedTools.map(readAllowedEntry);
  return names.filter((name) => entries.some((entry) => entry.kind === 'name' && entry.pattern === name));
}

/** Warnings about entries that no tool has as its name. `others` are tools beside the built-in ones. */
export function unknownEntries(
  allowedTools: readonly string[],
  others: readonly string[],
  builtInTools: ToolTable,
): Envelope['warnings'] {
  const known = knownTools(others, builtInTools);
  return allowedTools.flatMap((written) =>
    warningsOf(written, readAllowedEntry(written), { known, granted: known, whom: 'skills', builtInTools }),
  );
}

/** Whether a skill's list allows only single commands, which are started without a shell (T5). */
export function allowsSimpleOnly(allowedTools: readonly string[] = []): boolean {
  const entries = allowedTools.map(readAllowedEntry);
  return entries.some(isShell) && !entries.some(allowsAnyBash);
}

function isShell(entry: AllowedEntry): boolean {
  if (entry.kind === 'name') return entry.pattern === 'bash';
  return entry.kind === 'command' || entry.kind === 'script';
}

export function listRunsScripts(allowedTools: readonly string[] = []): boolean {
  const entries = allowedTools.map(readAllowedEntry);
  const names = ['bash', 'skills_run_script'];
  return entries.length === 0 || entries.some((entry) => namedBy(entry, names).length > 0);
}

function allowsAnyBash(entry: AllowedEntry): boolean {
  return entry.kind === 'name' && namedBy(entry, ['bash']).length > 0;
}

function allowedToolsOf(
  tools: readonly string[],
  warnings: Envelope['warnings'],
  limits?: Readonly<{ commands: readonly CommandPattern[]; starts?: StartsOwnScript }>,
): AllowedTools {
  const names = [...new Set(tools)].sort();
  const { commands, starts } = (names.includes('bash') ? limits : undefined) ?? {};
  return Object.freeze({
    names: Object.freeze(names),
    commands:
      commands === undefined
        ? undefined
        : [
            ...commands.map(({ written }) => written),
            ...(starts === undefined ? [] : ['a script of this skill']),
          ],
    allows(name: string, input: unknown) {
      if (!names.includes(name)) return false;
      if (name !== 'bash' || commands === undefined) return true;
      const command = commandOf(input);
      if (command === undefined) return false;
      const words = parseSimpleCommand(command);
      const isCovered = words !== undefined && commands.some((pattern) => coversCommand(pattern, words));
      return isCovered || starts?.(command) === true;
    },
    warnings,
  });
}

function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('command' in input)) return undefined;
  return typeof input.command === 'string' ? input.command : undefined;
}

/** A pattern never matches a tool that has to be named. `builtInTools` is not needed for names of other tools. */
function namedBy(entry: AllowedEntry, names: readonly string[], builtInTools?: ToolTable): readonly string[] {
  if (entry.kind === 'unenforceable') return [];
  if (entry.kind === 'command') return names.filter((name) => name === 'bash');
  if (entry.kind === 'script')
    return names.some(isRunScript) ? names.filter((name) => name === 'bash' || isRunScript(name)) : [];
  const { pattern } = entry;
  if (!isGlob(pattern)) return names.filter((name) => name === pattern);
  return names.filter((name) => builtInTools?.row(name)?.runs !== 'named' && matchesGlob(pattern, name));
}

type Offered = Readonly<{
  known: readonly string[];
  granted: readonly string[];
  /** For messages: whom `granted` is offered to. */
  whom: string;
  builtInTools: ToolTable;
}>;

function warningsOf(
  written: string,
  entry: AllowedEntry,
  { known, granted, whom, builtInTools }: Offered,
): Envelope['warnings'] {
  const warn = (code: WarningCode, why: string): Envelope['warnings'] => [
    { code, message: `allowed_tools: ${written} grants nothing: ${why}` },
  ];
  if (entry.kind === 'unenforceable') return warn('ALLOWED_TOOLS_UNKNOWN', entry.reason);
  if (namedBy(entry, known, builtInTools).length === 0)
    return warn('ALLOWED_TOOLS_UNKNOWN', 'no tool is called that');
  if (namedBy(entry, granted, builtInTools).length === 0)
    return warn('ALLOWED_TOOLS_NOT_OFFERED', `this bot does not offer it to ${whom}`);
  return [];
}

export function notAllowed(
  name: string,
  tools: readonly Pick<Tool, 'name'>[],
  allowed: Pick<AllowedTools, 'names' | 'commands'>,
): Envelope {
  const available = allowed.names.filter((known) => tools.some((tool) => tool.name === known));
  if (available.includes(name) && allowed.commands !== undefined)
    return fail(
      'TOOL_NOT_ALLOWED',
      `${name} takes one simple command here, beginning with: ${allowed.commands.join(' | ')} (no operators, expansions or line ends)`,
    );
  if (available.includes(name))
    return fail(
      'TOOL_NOT_ALLOWED',
      `the skill disallows this call of ${name}. A command with $, backticks, wildcards, ~ or \\ can't be judged, so it is refused, too`,
    );
  return fail(
    'TOOL_NOT_ALLOWED',
    `${JSON.stringify(oneLine(name, 100))} is no tool you may use. Available: ${available.join(', ') || 'none'}`,
  );
}
