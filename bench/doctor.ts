import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

/** `skillet doctor` without the network, beside `--help`, which loads next to nothing: milliseconds of whole processes, in turn (L2). */
export async function doctorTimes(
  times: number,
  skills: number,
): Promise<Readonly<{ help: readonly number[]; doctor: readonly number[] }>> {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-bench-'));
  try {
    await writeFile(path.join(home, 'config.toml'), '[bot]\nowner = ["telegram:1"]\n', { mode: 0o600 });
    for (let n = 0; n < skills; n++) {
      const folder = path.join(home, 'workspace/skills', `made-${n}`);
      await mkdir(folder, { recursive: true });
      await writeFile(
        path.join(folder, 'SKILL.md'),
        `---\nname: made-${n}\ndescription: Does thing ${n}.\n---\nDo it.\n`,
      );
    }
    const run = (...args: readonly string[]): number => {
      const began = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'bin/skillet.js'), ...args], {
        ...{ cwd: home, env: { PATH: process.env['PATH'], HOME: home }, encoding: 'utf8' },
      });
      // 1: it found something.
      if (status !== 0 && status !== 1) throw new Error(`skillet ${args.join(' ')}: ${stderr}`);
      return performance.now() - began;
    };
    const [help, doctor]: [number[], number[]] = [[], []];
    // Once for the compile cache.
    run('doctor');
    for (let n = 0; n < times; n++) {
      help.push(run('--help'));
      doctor.push(run('doctor'));
    }
    return { help, doctor };
  } finally {
    await rm(home, { recursive: true });
  }
}
