import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const parts = [
  'src',
  'test',
  'skills',
  'bin',
  'providers',
  'examples',
  'docs',
  'package.json',
  'tsconfig.json',
];
const root = path.join(import.meta.dirname, '../..');

/** A copy of the project that may be changed, with the same installed packages. */
export async function makeCopy(): Promise<Readonly<{ folder: string; remove(): Promise<void> }>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-mutations-'));
  for (const part of [...parts, 'config.example.toml', 'app-manifest.yaml', 'README.md'])
    await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
