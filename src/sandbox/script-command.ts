import path from 'node:path';
import type { Diagnostic } from '../core/codes.ts';
import type { Skill } from '../core/skill.ts';
import { steersPrograms } from '../core/steers-programs.ts';
import { defined } from '../lib/json/json-values.ts';

/** Runs bash without its settings, or sh if bash is missing. */
export const shellCommand = [
  'sh',
  '-c',
  'command -v bash >/dev/null && exec bash --noprofile --norc -i; exec sh -i',
] as const;

export type ScriptCommand = Readonly<{
  program: string;
  options: readonly string[];
  /** Packages to fetch before the script runs (R7). */
  fetch?: Readonly<{
    argv: readonly [program: string, ...rest: string[]];
    takesScript: boolean;
    /** PyPI packages that the script lists, without their versions. */
    lists: readonly string[];
  }>;
}>;

/** The program for an ending, used if the script has no first line that names one (R5). */
const byEnding: Readonly<Record<string, string>> = {
  '.sh': 'sh',
  '.bash': 'bash',
  '.py': 'python3',
  '.js': 'node',
  '.mjs': 'node',
  '.cjs': 'node',
  '.ts': 'node',
  '.mts': 'node',
};

const sameProgram: Readonly<Record<string, string>> = { python: 'python3', nodejs: 'node' };

/** Matches the list of dependencies and what follows it, in lines of comments. */
const dependencies = /^#[ \t]*dependencies[ \t]*=[ \t]*\[([^]*)/m;

/**
 * Packages in a Python script's own block, which is comments up to its end (PEP 723). If it lists nothing, uv has
 * nothing to fetch.
 */
function listedPackages(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => /^# \/\/\/ script[ \t]*$/.test(line)) + 1;
  const length = lines
    .slice(start)
    .findIndex((line) => !/^#(?: |$)/.test(line) || /^# \/\/\/[ \t]*$/.test(line));
  const isBlock = start > 0 && length > 0 && lines[start + length]?.startsWith('# ///') === true;
  const block = isBlock ? lines.slice(start, start + length).join('\n') : '';
  const [, list = ''] = dependencies.exec(block) ?? [];
  const found: string[] = [];
  const toml = list.replace(/\n# ?/g, '\n');
  for (const [whole, quoted, said] of toml.matchAll(/"([^"\n]*)"|'([^'\n]*)'|#[^\n]*|\]|[^\s,]/g)) {
    if (whole.startsWith('#')) continue;
    if (whole === ']') break;
    // An address, or something that is not a string, is for uv alone.
    const written = quoted ?? said ?? whole;
    found.push(/^\s*([\w.-]+)[^@]*$/.exec(written)?.[1] ?? written);
  }
  return found;
}

/**
 * How to run a script: by its first line (`#!/bin/sh -e`, `#!/usr/bin/env -S node --flag`), otherwise by its ending
 * (R5). Python with listed dependencies, and uv or uvx, are run by uv offline (R7).
 */
export function scriptCommand(file: string, text: string): ScriptCommand | undefined {
  const [program, ...options] = named(file, text);
  if (program === undefined) return undefined;
  if (program === 'uvx') return byTool(options);
  if (program === 'uv' && options[0] === 'tool' && options[1] === 'run') return byTool(options.slice(2));
  const byUv = program === 'uv' && options[0] === 'run';
  const lists = program === 'python3' || byUv ? listedPackages(text) : [];
  if (lists.length > 0) {
    const own = byUv ? options.slice(1).filter(isNoScriptFlag) : [];
    return {
      program: 'uv',
      options: ['run', '--offline', '--quiet', ...own, '--script'],
      fetch: { argv: ['uv', 'sync', '--quiet', '--script'], takesScript: true, lists },
    };
  }
  if (byUv) {
    const own = options.slice(1).filter(isNoScriptFlag);
    return {
      program,
      options: ['run', '--offline', '--quiet', ...own, '--script'],
      fetch: { argv: ['uv', 'run', '--quiet', ...own, 'python', '-c', ''], takesScript: false, lists: [] },
    };
  }
  return { program, options };
}

function named(file: string, text: string): readonly string[] {
  const [, line] = /^#!([^\r\n]*)/.exec(text) ?? [];
  const words = line?.trim().split(/[ \t]+/) ?? [];
  const [program, ...options] =
    path.posix.basename(words[0] ?? '') === 'env' ? afterEnv(words.slice(1)) : words;
  if (program !== undefined && program !== '') return [nameOf(program), ...options];
  const ending = byEnding[path.posix.extname(file).toLowerCase()];
  return ending === undefined ? [] : [ending];
}

/** Runs a tool of uv. To fetch it, `--help` is used, which does nothing else. */
function byTool(options: readonly string[]): ScriptCommand {
  return {
    program: 'uvx',
    options: ['--offline', '--quiet', ...options],
    fetch: { argv: ['uvx', '--quiet', ...options, '--help'], takesScript: false, lists: [] },
  };
}

function isNoScriptFlag(option: string): boolean {
  return option !== '--script' && option !== '-s';
}

function afterEnv(words: readonly string[]): readonly string[] {
  return words[0] === '-S' || words[0] === '--split-string' ? words.slice(1) : words;
}

function nameOf(program: string): string {
  const name = path.posix.basename(program);
  return Object.hasOwn(sameProgram, name) ? (sameProgram[name] ?? name) : name;
}

export function terminalEnvironment(): Readonly<Record<string, string>> {
  const { TERM = 'dumb', COLORTERM } = process.env;
  return defined({ TERM, COLORTERM, PS1: 'sandbox:\\w\\$ ' });
}

type SkillEnvironment = Readonly<{
  env: Readonly<Record<string, string>>;
  missing: readonly string[];
  diagnostics: readonly Diagnostic[];
}>;

/**
 * The environment of a skill (U3): its `env` and `[skills.NAME]`, because public skills read more than they declare. An
 * empty value counts as missing. Names that steer loaders or interpreters are refused. A skill that waits for approval
 * gets nothing (D9).
 */
export function skillEnvironment(
  skill: Skill,
  values: Readonly<Record<string, string | undefined>>,
): SkillEnvironment {
  if (!skill.access.approved) return { env: {}, missing: [], diagnostics: [] };
  const wanted = [...new Set([...skill.env, ...Object.keys(values)])];
  const valueOf = (name: string): string => (Object.hasOwn(values, name) ? (values[name] ?? '') : '');
  const names = wanted.filter((name) => !steersPrograms(name));
  const diagnostics = wanted.filter(steersPrograms).map((name): Diagnostic => ({
    level: 'warning',
    code: 'ENV_REFUSED',
    message: `${skill.name} declares env ${name}, which steers a loader or interpreter: it is not passed on`,
    path: skill.path,
    field: 'env',
  }));
  return {
    env: Object.fromEntries(
      names.filter((name) => valueOf(name) !== '').map((name) => [name, valueOf(name)]),
    ),
    missing: names.filter((name) => valueOf(name) === ''),
    diagnostics,
  };
}
