import { readFileSync } from 'node:fs';
import path from 'node:path';
import { versionOf } from './approve-skill.ts';
import type { Button } from '../../core/channel.ts';
import { sayOrigin, type WordOrigin } from '../../core/provenance.ts';
import type { Requester } from '../../core/tool.ts';
import { codeBlock, inlineCode } from '../../lib/text/text.ts';
import type { Replies } from '../../replies/replies.ts';
import { hashSkill, type SkillHash } from '../../skills/install/hash-skill.ts';
import { parseSkill } from '../../skills/parse/parse-skill.ts';
import type { Definition } from '../../skills/parse/skill-definition.ts';
import { type WrittenSkill } from '../../skills/written-skills.ts';
import { marker } from '../../skills/written-marker.ts';
import type { Store } from '../../store/store.ts';
import { defined } from '../../lib/json/json-values.ts';
import { sayIn, type Say, type Words } from '../../core/texts/say.ts';

/** Asks those who may enable a skill about it (D9). */
export type AskAboutSkill = (record: WrittenSkill, requester: Requester) => Promise<void>;

/**
 * Shows the whole skill with buttons: in the requester's direct message if they may enable it, otherwise to every owner
 * and approver. It does so once for each version.
 */
export function createAskAboutSkill(options: {
  root: string;
  store: Store;
  replies: Replies;
  mayApprove(sender: string): Promise<boolean>;
  approvers(): readonly string[];
  /** Names of variables that the operator has set for the skill. */
  given(name: string): readonly string[];
}): AskAboutSkill {
  const { root, store, replies, mayApprove, approvers, given } = options;

  return async ({ name, at, approved, from }, requester) => {
    const directory = path.join(root, name);
    const hash = hashSkill(directory);
    if (hash === undefined) return;
    const words = describeWrittenSkill({
      name,
      directory,
      hash,
      sender: requester.sender,
      given: given(name),
      isNew: approved === undefined,
      from,
    });
    const key = `skill:${name}:${at}`;
    const { chatType, sender, conversation, language } = requester;
    const version = versionOf(hash.hash);
    if (chatType === 'private' && (await mayApprove(sender))) {
      const say = sayIn(language);
      const more = { buttons: buttonsFor(version, say) };
      await store.commit({ outbox: await replies.rows(conversation, key, say(words), more) });
    } else {
      const more = { buttons: buttonsFor(version, sayIn(undefined)), alsoTo: approvers() };
      await replies.tellOwners(key, words, more);
    }
  };
}

function buttonsFor(version: string, say: Say): readonly Button[] {
  return [
    { label: say`Enable`, action: `skill:enable:${version}` },
    { label: say`Discard`, action: `skill:discard:${version}` },
  ];
}

/**
 * Says who asked, what the skill asks for, and shows every file with its hash and text (D9). Texts are shown as code,
 * so that nothing in them can pass for the bot's words.
 */
function describeWrittenSkill(skill: {
  name: string;
  directory: string;
  hash: SkillHash;
  sender: string;
  /** Names of variables that the operator has set, so that the skill gets them without asking (U3). */
  given: readonly string[];
  /** True if no version of this name was ever enabled. */
  isNew: boolean;
  from: WordOrigin;
}): Words {
  const { name, directory, hash, sender, given, isNew, from } = skill;
  const files = hash.files.filter((file) => file.path !== marker);
  const texts = files.map(
    ({ path: file }) =>
      `${inlineCode(file)}\n\n${codeBlock(readFileSync(path.join(directory, file), 'utf8'))}`,
  );
  const asks = asksOf(directory, given);
  return (say) => {
    const listed = files.map(({ path: file, size, sha256 }) => {
      const hashed = inlineCode(sha256.slice(0, 16));
      return `- ${say`${inlineCode(file)}: ${say.number(size)} bytes, SHA-256 ${hashed}`}`;
    });
    const skillName = inlineCode(name);
    const origin = sayOrigin(from, say);
    return [
      `**${isNew ? say`A new skill waits for your yes: ${skillName}` : say`A changed skill waits for your yes: ${skillName}`}**`,
      say`I wrote it for ${inlineCode(sender)}. It stays off until you enable it. If a file changes later, it is switched off again.`,
      ...(origin === undefined ? [] : [say`From: ${origin}`]),
      [say`It asks for:`, ...asks(say).map((line) => `- ${line}`)].join('\n'),
      [say`Its files, all of which follow:`, ...listed].join('\n'),
      ...texts,
    ].join('\n\n');
  };
}

/** What the skill asks for, in the words of SKILL.md, which are the same in every language. */
function asksOf(directory: string, given: readonly string[]): (say: Say) => readonly string[] {
  const file = path.join(directory, 'SKILL.md');
  const bytes = readFileSync(file);
  const parsed = parseSkill({ path: file, directory, origin: 'workspace', bytes, cut: false });
  if (!parsed.ok) return (say) => [say`nothing: its SKILL.md can’t be read`];
  const wishes = Object.entries(wishesOf(parsed.definition, given));
  return (say) =>
    wishes.map(([what, list]) => {
      const named = list === everyTool ? say`every tool that runs get` : list.map(inlineCode).join(', ');
      return `${what}: ${named}`;
    });
}

const everyTool: readonly string[] = ['*'];

function wishesOf(
  definition: Definition,
  given: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const { allowedTools, packages, capabilities, network, access, model, background, context } = definition;
  const tools = allowedTools === undefined || allowedTools.length === 0 ? undefined : allowedTools;
  const env = [...new Set([...definition.env, ...given])];
  const others = { env, packages, capabilities, network };
  return {
    tools: tools ?? everyTool,
    ...Object.fromEntries(Object.entries(others).filter(([, list]) => list.length > 0)),
    ...defined({
      'use in': access.chatTypes,
      sensitive: access.sensitive ? ['yes'] : undefined,
      model: model === undefined ? undefined : [model],
      background: background ? ['yes'] : undefined,
      context: context === 'inline' ? ['inline'] : undefined,
    }),
  };
}
