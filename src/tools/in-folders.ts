import { fail } from '../core/envelope.ts';
import type { Tool } from '../core/tool.ts';
import { hashNamedFiles } from './bound-files.ts';
import type { FileScopes } from './built-in/run-folders.ts';
import { FolderFull, type Folders } from '../folders/folders.ts';

/**
 * Wraps a tool so that its folders are up to date when it begins, and its changes are stored before its result (Q14).
 */
export function inFolders(
  tool: Tool,
  { names, places, folders }: Readonly<{ names: readonly string[]; places: FileScopes; folders: Folders }>,
): Tool {
  const how = tool.traits.sideEffects ? 'changes' : 'reads';
  return {
    ...tool,
    // What `write_file` writes is in its input. A search reads files that its input does not name, so all files count.
    reads: async (input) =>
      tool.name === 'write_file'
        ? undefined
        : folders.use(names, 'reads', () => hashNamedFiles(places, tool.name === 'grep_files' ? '*' : input)),
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
