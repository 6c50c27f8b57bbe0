import { randomUUID } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { changeableByOthers } from '../lib/files/changeable-by-others.js';
import type { Log } from '../lib/log.ts';
import { makeFolders, tryFolders } from '../store/make-folders.ts';
import { lockOwner } from '../store/sqlite/lock-owner.ts';
import type { Store } from '../store/store.ts';

const markFile = '.workspace-id';

const heardMs = 90_000;

const everyMs = 30_000;

const shape = z.object({ mark: z.string(), place: z.string() });

/** 0700 (S4), locked (Q9). Throws OperatorError. `problem`: what is wrong by now. */
export function ownDataDir(dataDir: string): Readonly<{ problem(): string | undefined; release(): void }> {
  try {
    makeFolders(dataDir, 0o700);
    refuseIfChangeable(dataDir);
    const { uid, mode } = statSync(dataDir);
    if (uid === process.getuid?.() && (mode & 0o077) !== 0) chmodSync(dataDir, 0o700);
    const lock = lockOwner(path.join(dataDir, 'bot'), {
      what: dataDir,
      instead: 'a directory of its own in [bot] data_dir',
    });
    const { dev, ino } = statSync(dataDir);
    return { ...lock, problem: () => problemOf(dataDir, { dev, ino }) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw unusable(dataDir, error);
  }
}

/** Throws as `ownDataDir`; changes nothing. */
export function tryDataDir(dataDir: string): void {
  try {
    tryFolders(dataDir);
    if (!existsSync(dataDir)) return;
    refuseIfChangeable(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw unusable(dataDir, error);
  }
}

function refuseIfChangeable(dataDir: string): void {
  const problem = changeableByOthers(dataDir);
  if (problem !== undefined)
    throw new OperatorError(`${dataDir} can't be used as the data directory: ${problem}.`);
}

function unusable(dataDir: string, cause: unknown): OperatorError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new OperatorError(
    `${dataDir} can't be used as the data directory: ${reason}. Fix that or write another path into [bot] data_dir.`,
    { cause },
  );
}

function problemOf(dataDir: string, was: Readonly<{ dev: number; ino: number }>): string | undefined {
  try {
    const { dev, ino } = statSync(dataDir);
    if (dev !== was.dev || ino !== was.ino) return gone(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    return changeableByOthers(dataDir);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    return code === 'ENOENT' ? gone(dataDir) : `${dataDir} can't be written: ${code}`;
  }
}

function gone(dataDir: string): string {
  return `${dataDir} is gone or was replaced: restart the bot`;
}

/** All processes on one store need one workspace (T10, Q9). Throws OperatorError. */
export async function shareWorkspace(
  workspace: string,
  { store, clock, log }: Readonly<{ store: Pick<Store, 'keyed'>; clock: Clock; log: Log }>,
): Promise<Readonly<{ release(): Promise<void> }>> {
  const stored = store.keyed('workspaces');
  const own = randomUUID();
  const here = { mark: await markOf(workspace), place: `${path.resolve(workspace)} on ${hostname()}` };
  const say = (): Promise<unknown> => stored.set(own, here, heardMs);
  // First: of two that start at once, one sees the other.
  await say();
  for await (const [key, value] of stored.iterator()) {
    const other = shape.safeParse(value);
    if (key === own || !other.success || other.data.mark === here.mark) continue;
    await stored.delete(own);
    throw new OperatorError(
      `Another process of this bot works in another workspace (${other.data.place}; here: ${here.place}). All need the same one: folders of conversations, skills that the bot wrote and files on their way are in it. Set [bot] workspace to one folder, on several machines one of a network file system. If that process is gone for good, start again in ${heardMs / 1_000} s.`,
    );
  }
  const ending = new AbortController();
  const saying = keepSaying(say, ending.signal, { clock, log });
  return {
    async release() {
      ending.abort();
      await saying;
      await stored.delete(own);
    },
  };
}

async function keepSaying(
  say: () => Promise<unknown>,
  signal: AbortSignal,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    await say().catch((error: unknown) => {
      log.debug({ err: error }, 'other processes could not be told of this workspace');
    });
  }
}

async function markOf(workspace: string): Promise<string> {
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  const file = path.join(workspace, markFile);
  await writeFile(file, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  return (await readFile(file, 'utf8')).trim();
}
