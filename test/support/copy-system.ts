import { spawn } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** A system of its own, with a few programs of this one and the libraries that they, and `libraryUsers`, load. */
export async function copySystem(
  folder: string,
  programs: readonly string[],
  libraryUsers: readonly string[] = [],
): Promise<void> {
  for (const each of ['usr/bin', 'etc']) await mkdir(path.join(folder, each), { recursive: true });
  const libraries = new Set<string>();
  for (const program of programs)
    await copyFile(`/usr/bin/${program}`, path.join(folder, 'usr/bin', program));
  for (const file of [...programs.map((program) => `/usr/bin/${program}`), ...libraryUsers]) {
    const ldd = spawn('ldd', [file], { stdio: ['ignore', 'pipe', 'ignore'] });
    for await (const text of ldd.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      for (const [library] of text.matchAll(/\/\S+\.so\S*/g)) libraries.add(library);
    }
  }
  for (const library of libraries) {
    await mkdir(path.join(folder, path.dirname(library)), { recursive: true });
    await copyFile(library, path.join(folder, library));
  }
  await mkdir(path.join(folder, 'bin'), { recursive: true });
  await copyFile('/usr/bin/sh', path.join(folder, 'bin/sh'));
}
