import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Tells of packages of PyPI whether the Python of a system has them installed, by what pip and dpkg leave beside them. */
export function pythonPackagesIn(root: string): (name: string) => boolean {
  let found: ReadonlySet<string> | undefined;
  return (name) => (found ??= new Set(folders(root).flatMap(installedIn))).has(normalized(name));
}

function folders(root: string): readonly string[] {
  const local = path.join(root, 'usr/local/lib');
  const versions = existsSync(local) ? readdirSync(local).filter((name) => name.startsWith('python3')) : [];
  return [
    path.join(root, 'usr/lib/python3/dist-packages'),
    ...versions.flatMap((name) =>
      ['dist-packages', 'site-packages'].map((last) => path.join(local, name, last)),
    ),
  ];
}

function installedIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((entry) => {
    const [, name] = /^(.+?)-[^-]+(?:-py3[^-]*)?\.(?:dist|egg)-info$/.exec(entry) ?? [];
    return name === undefined ? [] : [normalized(name)];
  });
}

/** PyPI takes these for the same name. */
function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}
