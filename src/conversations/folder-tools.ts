import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { decideSkill } from '../access/decide-skill.ts';
import { restrictedSkills } from '../access/restricted-skills.ts';
import type { Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import { bringShared } from '../runs/shared-files.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { listFilesTool, readFileTool, writeFileTool } from '../tools/built-in/file-tools.ts';
import { sendFileTool } from '../tools/built-in/send-file.ts';
import { grepFilesTool } from '../tools/built-in/grep-files.ts';
import {
  chatScope,
  makeRunFolders,
  nameOfChat,
  ownFolder,
  scratchFolders,
  turnScopes,
  type PlainScope,
} from '../tools/built-in/run-folders.ts';
import { inFolders } from '../tools/in-folders.ts';
import type { ActiveSkills } from './active-skills.ts';
import type { OpenTurn } from './open-turn.ts';
import type { TurnDeps } from './turn-context.ts';

const commandTimeoutMs = 120_000;

/**
 * The main agent's tools in the chat's folder (T2, T4). While it follows a skill that not everybody in the chat may use,
 * they work in that skill's own folder (S16).
 */
export function folderTools(turn: OpenTurn, active: ActiveSkills, deps: TurnDeps): readonly Tool[] {
  const { runtime, folders } = deps;
  const inChat = toolsIn(turn.chat, undefined, { turn, active }, deps);

  function toolNow(index: number): Tool {
    const followed = active.restriction.activeSkills().map(({ skill }) => skill);
    const restricted = restrictedSkills(followed, runtime().rules, turn.message.chatType);
    const chat = ownFolder(turn.chat, restricted);
    const tool = toolsIn(chat, active.readable(), { turn, active }, deps)[index];
    if (tool === undefined) throw new Error('each folder has the same tools');
    if (chat === turn.chat) return tool;
    return {
      ...tool,
      async within(work) {
        await bringShared({ shared: turn.chat, own: chat }, folders);
        return tool.within?.(work) ?? work();
      },
    };
  }

  return inChat.map((tool, index) => ({ ...tool, now: () => toolNow(index) }));
}

function toolsIn(
  chat: string,
  skill: Skill | undefined,
  { turn, active }: Readonly<{ turn: OpenTurn; active: ActiveSkills }>,
  deps: TurnDeps,
): readonly Tool[] {
  const { folders } = deps;
  const { sandbox } = deps.skillSandbox;
  const places = turnScopes(chat, sandbox, skill);
  const quota = deps.runtime().config.sandbox.diskMb * 1024 * 1024;
  const names = [nameOfChat(chat)];
  const apart = foldersApart(turn, deps).map(({ host }) => nameOfChat(host));
  const ofChat = [
    turnBash(chat, active, deps),
    readFileTool(places),
    writeFileTool(places, quota),
    listFilesTool(places),
    grepFilesTool(places),
  ].map((tool) => inFolders(tool, { names, places, folders }));
  const send = sendFileTool(places, () => foldersApart(turn, deps));
  return [...ofChat, inFolders(send, { names: [...names, ...apart], places, folders })];
}

/** The folders of restricted skills that this person may use here; only the tool that sends files may read them. */
function foldersApart(turn: OpenTurn, { runtime, skillSandbox }: TurnDeps): readonly PlainScope[] {
  const { rules } = runtime();
  const may = (name: string): boolean => {
    const skill = turn.registry.get(name);
    const by = ['person', 'model'] as const;
    return (
      skill !== undefined && by.some((one) => decideSkill(skill, rules, { ...turn.use, by: one }).allowed)
    );
  };
  return restrictedSkills([...rules.skills.keys()], rules, turn.message.chatType)
    .filter(may)
    .map((name) => chatScope(ownFolder(turn.chat, [name]), skillSandbox.sandbox));
}

/** `bash` for the main agent: no skills, no network, and a scratch folder for each command. */
function turnBash(
  chat: string,
  { restriction }: ActiveSkills,
  { skillSandbox: { sandbox }, folders }: TurnDeps,
): Tool {
  return bashTool({
    place: {
      sandbox,
      folders: [
        'the working directory (empty, gone when the command ends)',
        `${sandbox.seen('chat', chat)} (kept for this conversation)`,
      ],
      async within(work) {
        const own = { scratch: path.join(scratchFolders(folders.root), randomUUID()), chat };
        await makeRunFolders(own);
        try {
          return await work(own);
        } finally {
          await removeFolder(own.scratch);
        }
      },
    },
    env: {},
    simple: () => restriction.commands !== undefined,
    timeoutMs: commandTimeoutMs,
  });
}
