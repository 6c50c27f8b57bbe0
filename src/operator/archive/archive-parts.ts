import path from 'node:path';
import { auditFolder, auditKeyFile } from '../../audit/audit-files.ts';
import { capabilityKeyFile } from '../../config/key-file.ts';
import { accessTestsOf } from '../../config/access-tests.ts';
import type { Config } from '../../config/complete-config.ts';
import { envFileOf } from '../../config/load-config.ts';
import { outgoingGroup } from '../../replies/artifacts.ts';
import { receivedGroup } from '../../runs/received-files.ts';
import { bundleDataRoot } from '../../skills/install/bundle-place.ts';
import { installedRoot, lockPath } from '../../skills/install/lock-file.ts';
import { writtenRoot } from '../../skills/open-library.ts';
import { chatGroup } from '../../tools/built-in/run-folders.ts';

/** What people call a part of an archive. */
export type ArchiveGroup = 'config' | 'secrets' | 'store' | 'keys' | 'audit' | 'skills' | 'files';

/** A file or folder of a bot, and its name in an archive. */
export type ArchivePart = Readonly<{
  name: string;
  /** Absolute path of the file or folder. */
  at: string;
  kind: 'file' | 'folder';
  group: ArchiveGroup;
  /** True if others may have put something there. Then a restore leaves it as it is. */
  shared?: true;
}>;

export const storeMember = 'store.db';

/** Everything that `backup` takes besides the store, and where `restore` puts it (L16). */
export function archiveParts(config: Config): readonly ArchivePart[] {
  const { path: file, bot, skills } = config;
  const { dataDir, workspace } = bot;
  const ofConfig: readonly ArchivePart[] =
    file === undefined
      ? []
      : [
          { name: `config/${path.basename(file)}`, at: file, kind: 'file', group: 'config' },
          { name: 'config/access.tests.toml', at: accessTestsOf(file), kind: 'file', group: 'config' },
          { name: 'config/.env', at: envFileOf(file), kind: 'file', group: 'secrets' },
        ];
  return [
    ...ofConfig,
    { name: 'data/audit.key', at: auditKeyFile(dataDir), kind: 'file', group: 'keys' },
    { name: 'data/capabilities.key', at: capabilityKeyFile(config), kind: 'file', group: 'keys' },
    { name: 'data/audit', at: auditFolder(dataDir), kind: 'folder', group: 'audit' },
    { name: 'data/skills.lock.toml', at: lockPath(dataDir), kind: 'file', group: 'skills' },
    { name: 'data/installed', at: installedRoot(dataDir), kind: 'folder', group: 'skills' },
    { name: 'workspace/skills', at: writtenRoot(config), kind: 'folder', group: 'skills' },
    { name: 'user-skills', at: skills.userDir, kind: 'folder', group: 'skills', shared: true },
    { name: 'data/bundle-data', at: bundleDataRoot(dataDir), kind: 'folder', group: 'files' },
    { name: 'workspace/chats', at: path.join(workspace, chatGroup), kind: 'folder', group: 'files' },
    { name: 'workspace/received', at: path.join(workspace, receivedGroup), kind: 'folder', group: 'files' },
    { name: 'workspace/outgoing', at: path.join(workspace, outgoingGroup), kind: 'folder', group: 'files' },
  ];
}

/** The file of an embedded store. Undefined for a database server and for a store in memory. */
export function storeFileOf(config: Config): string | undefined {
  const file = /^sqlite:(.+)$/s.exec(config.store.url)?.[1];
  return file === ':memory:' ? undefined : file;
}
