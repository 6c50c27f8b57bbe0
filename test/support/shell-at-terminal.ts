import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { cliPath } from './cli-path.ts';
import { openCliHome, type CliHome } from './run-cli.ts';

const hasScript = findProgram('script', process.env['PATH'] ?? '') !== undefined;
/** Why tests at a terminal are skipped. */
export const noTerminal = hasScript ? false : 'script (bsdutils) is not installed, so there is no terminal';

/** A home with one skill, which wants a network and an environment. */
export async function withSkill(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await mkdir(path.join(home.folder, 'workspace/skills/parcels'), { recursive: true });
  await home.write(
    'workspace/skills/parcels/SKILL.md',
    '---\nname: parcels\ndescription: Parcels.\nnetwork: [a.test]\nenv: [PARCELS_KEY, PARCELS_OTHER]\n---\nGo.\n',
  );
  await home.write('config.toml', '[skills.parcels]\nPARCELS_KEY = "k-12"\n');
  return home;
}

export type Terminal = Readonly<{
  type(text: string): void;
  /** Resolves when what came since it was last asked is like this. */
  until(pattern: RegExp): Promise<string>;
  /** Types a line, and waits for an answer like this. */
  ask(line: string, answer: RegExp): Promise<void>;
  /** Types a last line; gives the exit code. */
  end(line: string): Promise<number>;
  ended: Promise<number>;
  seen(): string;
}>;

/** The command line at a terminal of its own, which has no width unless one is given. */
export async function openTerminal(
  t: TestContext,
  { folder }: CliHome,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  columns?: number,
): Promise<Terminal> {
  const size = columns === undefined ? '' : `stty cols ${columns} rows 50; `;
  const words = `${size}${[process.execPath, cliPath, ...args].map((word) => `'${word}'`).join(' ')}`;
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let all = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (all += text));
  const ended = once(child, 'close').then(([code]) => code as number);
  const terminal: Terminal = {
    type: (text) => void child.stdin.write(text),
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(all.slice(from));
        if (match !== null) {
          from += match.index + match[0].length;
          return match[0];
        }
        const gone = ended.then(() => 'gone' as const);
        if (
          (await Promise.race([once(child.stdout, 'data'), gone])) === 'gone' &&
          !pattern.test(all.slice(from))
        )
          throw new Error(`the terminal was closed before ${pattern}: ${all}`);
      }
    },
    async ask(line, answer) {
      terminal.type(`${line}\n`);
      await terminal.until(answer);
      await terminal.until(/sandbox:\S+\$ /);
    },
    async end(line) {
      terminal.type(`${line}\n`);
      return ended;
    },
    ended,
    seen: () => all,
  };
  return terminal;
}
