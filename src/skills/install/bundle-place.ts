import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { skilletHere } from '../../core/skillet-here.ts';
import { checkPinned } from './hash-skill.ts';
import { bundleFolder, readLock } from './lock-file.ts';

/** Where a bundle has its files, and where its servers may write. Else why it may not be used, with the fix (F12). */
export type BundlePlace =
  | Readonly<{ ok: true; root: string; data: string }>
  | Readonly<{ ok: false; code: 'BUNDLE_MISSING' | 'BUNDLE_CHANGED'; problem: string }>;

/** Finds a bundle by its name, and hashes all of its files. */
export function placeOfBundle(dataDir: string, name: string): BundlePlace {
  const reading = readLock(dataDir);
  const missing = (problem: string): BundlePlace => ({ ok: false, code: 'BUNDLE_MISSING', problem });
  if (!reading.ok) return missing(`${reading.path} can't be read: ${reading.problem}`);
  for (const { source, bundles = [] } of reading.lock.sources) {
    const bundle = bundles.find((one) => one.name === name);
    if (bundle === undefined) continue;
    const root = bundleFolder(dataDir, bundle);
    const isLink = [root, dirname(root)].some((folder) => isNoFolder(folder));
    const problem = isLink ? 'its folder went missing, or is a link' : checkPinned(root, bundle.files);
    if (problem === undefined) return { ok: true, root, data: dataOfBundle(dataDir, { source, name }) };
    const fix = `"${skilletHere()} skill update ${name}" restores what you agreed to`;
    return {
      ...{ ok: false, code: 'BUNDLE_CHANGED' },
      problem: `the files of the bundle ${name} are not those that you agreed to: ${problem}; ${fix}`,
    };
  }
  return missing(
    `no bundle ${name} is installed: "${skilletHere()} skill add SOURCE" with its source shows and keeps it`,
  );
}

/** The folder of a bundle's agreed files, whose name changes with them. Undefined if the bundle is not installed. */
export function agreedFiles(dataDir: string, name: string): string | undefined {
  const reading = readLock(dataDir);
  const sources = reading.ok ? reading.lock.sources : [];
  const bundle = sources.flatMap(({ bundles = [] }) => bundles).find((one) => one.name === name);
  return bundle === undefined ? undefined : bundleFolder(dataDir, bundle);
}

/** The folder of a bundle's own data. A bundle of the same name from elsewhere has another one. */
export function dataOfBundle(
  dataDir: string,
  { source, name }: Readonly<{ source: string; name: string }>,
): string {
  const mark = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return join(bundleDataRoot(dataDir), `${name}-${mark}`);
}

/** The folder in which all bundles have their data. */
export function bundleDataRoot(dataDir: string): string {
  return join(dataDir, 'bundle-data');
}

function isNoFolder(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true;
}
