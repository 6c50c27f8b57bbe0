import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { busyConfig, plantWeek } from '../test/support/busy-week.ts';

const program = path.join(import.meta.dirname, '../bin/skillet.js');
/** Says the most memory that the process had, when it ends. */
const tellMemory = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => process.stderr.write('rss ' + process.resourceUsage().maxRSS + '\\n'))`,
)}`;

/** Judges a week of so many messages by a new config: seconds, MB at most, and how many entries were judged. */
export async function rehearseWeek(
  messages: number,
): Promise<Readonly<{ seconds: number; megabytes: number; judged: number }>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-rehearse-'));
  try {
    await writeFile(path.join(folder, 'config.toml'), busyConfig);
    await writeFile(
      path.join(folder, 'new.toml'),
      busyConfig.replace('[policy]', '[policy]\nmoderate = "confirm"'),
    );
    await plantWeek(folder, { messages });
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', tellMemory, program, 'rehearse', '--config', 'new.toml', '--json'],
      { cwd: folder, env: { ...process.env, HOME: folder }, encoding: 'utf8', maxBuffer: 100_000_000 },
    );
    const seconds = (performance.now() - began) / 1_000;
    if (status !== 3) throw new Error(`it ended with ${status}: ${stderr}`);
    const { judged } = JSON.parse(stdout) as { judged: Readonly<Record<string, number>> };
    const megabytes = Number(/^rss (\d+)$/m.exec(stderr)?.[1]) / 1_024;
    return { seconds, megabytes, judged: Object.values(judged).reduce((sum, count) => sum + count, 0) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
