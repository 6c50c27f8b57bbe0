import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Tool } from '../core/tool.ts';
import { removeFolder } from '../lib/files/remove-folder.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { makeRunFolders, scratchFolders } from '../tools/built-in/run-folders.ts';

/** Of one command. */
const timeoutMs = 120_000;

/**
 * `bash` of the main agent, where `[agent] tools` names it (T2, T4): no skill's files or environment, no network, the folder
 * of its conversation (`chat`), and an empty scratch folder that is gone with the command. `simple` is read at each call.
 */
export function turnBash(options: {
  sandbox: Sandbox;
  workspace: string;
  chat: string;
  simple(): boolean;
}): Tool {
  const { sandbox, workspace, chat, simple } = options;
  return bashTool({
    sandbox,
    folders: [
      'the working directory (empty, gone when the command ends)',
      `${sandbox.seen('chat', chat)} (kept for this conversation)`,
    ],
    async within(work) {
      const folders = { scratch: path.join(scratchFolders(workspace), randomUUID()), chat };
      await makeRunFolders(folders);
      try {
        return await work(folders);
      } finally {
        await removeFolder(folders.scratch);
      }
    },
    env: {},
    simple,
    timeoutMs,
  });
}
