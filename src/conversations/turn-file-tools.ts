import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { listFilesTool } from '../tools/built-in/list-files.ts';
import { readFileTool } from '../tools/built-in/read-file.ts';
import { sendFileTool } from '../tools/built-in/send-file.ts';
import { writeFileTool } from '../tools/built-in/write-file.ts';
import { turnPlaces } from '../tools/built-in/run-folders.ts';

/** File tools of the main agent, over the folder of its conversation alone (T2, T13). `quota`: bytes that it may hold. */
export function turnFileTools(chat: string, sandbox: Pick<Sandbox, 'seen'>, quota: number): readonly Tool[] {
  const places = turnPlaces(chat, sandbox);
  return [readFileTool(places), writeFileTool(places, quota), listFilesTool(places), sendFileTool(places)];
}
