import { openFolderSource } from './install-folder.ts';
import type { OpenSource, SourceSnapshot } from './install-source.ts';
import { openGitSource } from './git-source.ts';

/** Opens a source as it is now, whatever its kind (D6). Throws OperatorError where it can't be had. */
export function openSource(options: OpenSource): Promise<SourceSnapshot> {
  return options.address.kind === 'git' ? openGitSource(options) : openFolderSource(options);
}
