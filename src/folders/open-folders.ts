import path from 'node:path';
import type { Config } from '../config/complete-config.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import { adoptFolders } from './adopt-folders.ts';
import { createCopies } from './create-copies.ts';
import type { Folders } from './folders.ts';
import { createPlainFolders } from './plain-folders.ts';

/**
 * Opens the folders below `[bot] workspace`. If the store keeps the files, they are copies below `[bot] data_dir`, and
 * what is in the workspace moves into the store. Throws OperatorError.
 */
export async function openFolders({ bot, sandbox }: Config, store: Store, log: Log): Promise<Folders> {
  const files = store.files();
  if (files === undefined) return createPlainFolders(bot.workspace);
  await adoptFolders(bot.workspace, { files, log });
  return createCopies({
    files,
    signals: store.signals,
    root: path.join(bot.dataDir, 'copies'),
    quota: sandbox.diskMb * 1024 * 1024,
    onFault: (error) =>
      log.warn({ err: error }, 'a copy of a folder could not be removed; tried again later'),
  });
}
