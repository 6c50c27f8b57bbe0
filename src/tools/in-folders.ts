import { fail } from '../core/envelope.ts';
import type { Tool } from '../core/tool.ts';
import { FolderFull, type Folders } from '../folders/folders.ts';

/** Its folders are up to date when the tool begins; what it changes is stored before its result (Q14). */
export function inFolders(tool: Tool, names: readonly string[], folders: Pick<Folders, 'use'>): Tool {
  const how = tool.traits.sideEffects ? 'changes' : 'reads';
  return {
    ...tool,
    async within(work) {
      try {
        return await folders.use(names, how, work);
      } catch (error) {
        if (error instanceof FolderFull) return fail('FILE_TOO_LARGE', error.message);
        throw error;
      }
    },
  };
}
