import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Tool } from '../core/tool.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { bashTool } from '../tools/built-in/bash.ts';
import { listFilesTool, readFileTool, sendFileTool, writeFileTool } from '../tools/built-in/file-tools.ts';
import { turnScopes, makeRunFolders, scratchFolders } from '../tools/built-in/run-folders.ts';

const timeoutMs = 120_000;

/** `quota`: bytes that the conversation's folder may hold (T2, T13). */
export function turnFileTools(chat: string, sandbox: Pick<Sandbox, 'seen'>, quota: number): readonly Tool[] {
  const places = turnScopes(chat, sandbox);
  return [readFileTool(places), writeFileTool(places, quota), listFilesTool(places), sendFileTool(places)];
}

/**
 * The main agent's `bash` (T2, T4): no files or environment of skills, no network, the conversation's folder, and a
 * scratch folder for each command. `simple` is read at each call.
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
