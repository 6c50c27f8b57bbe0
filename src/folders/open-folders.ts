import type { Config } from '../config/complete-config.ts';
import type { Folders } from './folders.ts';
import { createPlainFolders } from './plain-folders.ts';

export function openFolders({ bot }: Pick<Config, 'bot'>): Folders {
  return createPlainFolders(bot.workspace);
}
