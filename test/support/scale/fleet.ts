import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BotProcess, Exit } from '../crash/bot-process.ts';
import { makeLeanHome, type LeanHome } from '../lean/lean-bot.ts';
import type { LeanPlatform } from '../lean/lean-platform.ts';
import type { Machine } from '../machines/network.ts';
import { processorMs, residentMb } from '../lean/process-cost.ts';

/** Several processes of the bot on one store, each with a data directory of its own. */
export type Fleet = Readonly<{
  names: readonly string[];
  /** The process of this name that runs now. */
  running(name: string): BotProcess | undefined;
  start(name: string): Promise<void>;
  kill(name: string): Promise<void>;
  /** SIGTERM. */
  stop(name: string): Promise<Exit>;
  /** What it logged as an error, of all its lives. */
  errors(name: string): readonly string[];
  /** What it logged of queues that changed hands, of all its lives. */
  takeovers(name: string): readonly string[];
  /** Notes what each costs at this moment. */
  sample(): Promise<void>;
  /** Processor time of all its lives, milliseconds; resident memory at each sample, MB. */
  costs(name: string): Readonly<{ processorMs: number; memoryMb: readonly number[] }>;
  /** Kills what still runs and removes what it wrote. */
  close(): Promise<void>;
}>;

export async function createFleet(
  platform: LeanPlatform,
  options: Readonly<{
    processes: number;
    store: string;
    concurrency: number;
    paced: boolean;
    /** One a process, with nothing in common; else they share a workspace on this one. */
    machines?: readonly Machine[];
  }>,
): Promise<Fleet> {
  const { processes, machines, ...rest } = options;
  const names = Array.from({ length: processes }, (_, index) => String.fromCharCode(97 + index));
  const homes = new Map<string, LeanHome>();
  const running = new Map<string, BotProcess>();
  const lives = new Map<string, BotProcess[]>();
  /** Processor time by process id. */
  const processor = new Map<number, number>();
  const starts: Promise<void>[] = [];
  const memory = new Map<string, number[]>(names.map((name) => [name, []]));
  const shared = await mkdtemp(path.join(tmpdir(), 'skillet-fleet-'));
  const ofMachine = (at: number) =>
    machines === undefined ? { workspace: path.join(shared, 'workspace') } : { machine: machines[at] };
  for (const [at, name] of names.entries())
    homes.set(name, await makeLeanHome(platform, { name, ...ofMachine(at), ...rest }));

  async function sampleOne(name: string, { pid }: BotProcess): Promise<void> {
    const [ms, mb] = await Promise.all([processorMs(pid), residentMb(pid)]);
    if (mb === 0) return;
    processor.set(pid, ms);
    memory.get(name)?.push(mb);
  }

  async function begin(name: string): Promise<void> {
    const bot = await homes.get(name)?.start();
    if (bot === undefined) return;
    running.set(name, bot);
    lives.set(name, [...(lives.get(name) ?? []), bot]);
  }

  async function end(name: string, how: (bot: BotProcess) => Promise<unknown>): Promise<unknown> {
    const bot = running.get(name);
    if (bot === undefined) return undefined;
    await sampleOne(name, bot);
    const ended = await how(bot);
    running.delete(name);
    return ended;
  }

  return {
    names,
    running: (name) => running.get(name),
    start(name) {
      const started = begin(name);
      starts.push(started);
      return started;
    },
    kill: async (name) => void (await end(name, (bot) => bot.kill())),
    stop: async (name) => (await end(name, (bot) => bot.stop())) as Exit,
    errors: (name) => (lives.get(name) ?? []).flatMap((bot) => bot.errors()),
    takeovers: (name) => (lives.get(name) ?? []).flatMap((bot) => bot.takeovers()),
    async sample() {
      await Promise.all([...running].map(([name, bot]) => sampleOne(name, bot)));
    },
    costs: (name) => ({
      processorMs: (lives.get(name) ?? []).reduce((sum, { pid }) => sum + (processor.get(pid) ?? 0), 0),
      memoryMb: memory.get(name) ?? [],
    }),
    async close() {
      // Where one failed to start another may be about to.
      await Promise.allSettled(starts);
      await Promise.all([...running.values()].map((bot) => bot.kill()));
      await Promise.all([...homes.values()].map((home) => home.remove()));
      await rm(shared, { recursive: true, force: true });
    },
  };
}
