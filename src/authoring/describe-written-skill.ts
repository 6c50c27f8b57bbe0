import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Definition } from '../skills/parse/skill-definition.ts';
import type { SkillHash } from '../skills/install/hash-skill.ts';
import { parseSkill } from '../skills/parse/parse-skill.ts';
import { marker } from '../skills/written-skills.ts';
import { codeBlock } from '../lib/text/code-block.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

/**
 * A skill that the bot wrote, whole, for who may enable it (D9): who asked, what it asks for, every file with its hash and
 * its text. All of it as code, so that nothing in it can pretend to be the bot's own words.
 */
export function describeWrittenSkill(skill: {
  name: string;
  directory: string;
  hash: SkillHash;
  /** Who asked for it. */
  sender: string;
  /** What the operator wrote for its name, which it gets without asking for it (U3). */
  given: readonly string[];
  /** Nothing of this name was ever enabled. */
  isNew: boolean;
}): string {
  const { name, directory, hash, sender, given, isNew } = skill;
  const files = hash.files.filter((file) => file.path !== marker);
  const listed = files.map(
    ({ path: file, size, sha256 }) =>
      `- ${inlineCode(file)}: ${size} bytes, SHA-256 \`${sha256.slice(0, 16)}\``,
  );
  const texts = files.map(
    ({ path: file }) =>
      `${inlineCode(file)}\n\n${codeBlock(readFileSync(path.join(directory, file), 'utf8'))}`,
  );
  return [
    `**${isNew ? 'A new skill' : 'A changed skill'} waits for your yes: ${inlineCode(name)}**`,
    `I wrote it for ${inlineCode(sender)}. It stays off until you enable it; a later change of any file switches it off again.`,
    ['It asks for:', ...asksOf(directory, given)].join('\n'),
    ['Its files, all of which follow:', ...listed].join('\n'),
    ...texts,
  ].join('\n\n');
}

function asksOf(directory: string, given: readonly string[]): readonly string[] {
  const file = path.join(directory, 'SKILL.md');
  const bytes = readFileSync(file);
  const parsed = parseSkill({ path: file, directory, origin: 'workspace', bytes, cut: false });
  if (!parsed.ok) return ['- nothing that can be read: its SKILL.md is broken'];
  return Object.entries(wishesOf(parsed.definition, given)).map(
    ([what, list]) => `- ${what}: ${list.map(inlineCode).join(', ')}`,
  );
}

function wishesOf(
  definition: Definition,
  given: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const { allowedTools, packages, capabilities, network, access, model, background, context } = definition;
  const tools = allowedTools === undefined || allowedTools.length === 0 ? undefined : allowedTools;
  const env = [...new Set([...definition.env, ...given])];
  const others = { env, packages, capabilities, network };
  return {
    ...(tools === undefined ? { tools: ['every tool that runs get'] } : { tools }),
    ...Object.fromEntries(Object.entries(others).filter(([, list]) => list.length > 0)),
    ...(access.chatTypes === undefined ? {} : { 'use in': access.chatTypes }),
    ...(access.sensitive ? { sensitive: ['yes'] } : {}),
    ...(model === undefined ? {} : { model: [model] }),
    ...(background ? { background: ['yes'] } : {}),
    ...(context === 'inline' ? { context: ['inline'] } : {}),
  };
}
