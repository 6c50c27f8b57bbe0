import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';
import { foldersContract } from '../support/folders-contract.ts';

foldersContract(async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-folders-'));
  return { folders: createPlainFolders(root), close: () => rm(root, { recursive: true, force: true }) };
});
