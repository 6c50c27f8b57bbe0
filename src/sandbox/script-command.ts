import path from 'node:path';

/** How a script is started: the program, and what stands between it and the script's path. */
export type ScriptCommand = Readonly<{ program: string; options: readonly string[] }>;

/** Without a first line that says it, the ending decides (R5). */
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

/**
 * What runs a script, by its first line (`#!/bin/sh -e`, `#!/usr/bin/env -S node --flag`), else by its ending (R5).
 * Nothing where neither tells. The execute bit plays no part.
 */
export function scriptCommand(file: string, text: string): ScriptCommand | undefined {
  const [, line] = /^#!([^\r\n]*)/.exec(text) ?? [];
  const words = line?.trim().split(/[ \t]+/) ?? [];
  const [program, ...options] =
    path.posix.basename(words[0] ?? '') === 'env' ? afterEnv(words.slice(1)) : words;
  if (program !== undefined && program !== '') return { program: nameOf(program), options };
  const ending = byEnding[path.posix.extname(file).toLowerCase()];
  return ending === undefined ? undefined : { program: ending, options: [] };
}

function afterEnv(words: readonly string[]): readonly string[] {
  return words[0] === '-S' || words[0] === '--split-string' ? words.slice(1) : words;
}

function nameOf(program: string): string {
  const name = path.posix.basename(program);
  return Object.hasOwn(sameProgram, name) ? (sameProgram[name] ?? name) : name;
}
