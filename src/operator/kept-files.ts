import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ifAbsent } from '../lib/has-code.ts';
import type { Clock } from '../lib/clock.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import type { Log } from '../lib/log.ts';
import { createOutgoingFiles, type OutgoingFiles } from '../replies/artifacts.ts';
import { createReceivedFiles, type ReceivedFiles } from '../runs/received-files.ts';
import { runOf } from '../runs/tasks.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { chatFolderName, chatFolders, scratchFolders } from '../tools/built-in/run-folders.ts';

const everyMs = 3_600_000;

export type KeptFiles = Readonly<{
  outgoing: OutgoingFiles;
  received: ReceivedFiles;
  /** Returns the count (Q12). */
  forget(
    gone: Readonly<{ sender: string; places: readonly string[]; files: readonly string[] }>,
  ): Promise<number>;
  /** `waiting`: the whole inbox. Continues after a failure, then rejects (T10, Q12). */
  tidy(now: number, retentionMs: number, waiting: readonly ListedItem[]): Promise<void>;
}>;

/** A run may resume within half an hour. */
const restMs = 3_600_000;
/** Nested runs have no inbox item: a day. */
const nestedMs = 86_400_000;

export function createKeptFiles(workspace: string): KeptFiles {
  const outgoing = createOutgoingFiles(workspace);
  const received = createReceivedFiles(workspace);
  const chats = chatFolders(workspace);
  const scratch = scratchFolders(workspace);

  return {
    outgoing,
    received,
    async forget({ sender, places, files }) {
      const names = places.map(chatFolderName);
      const isOfPlace = (folder: string): boolean =>
        names.some((name) => folder === name || folder.startsWith(`${name}-`));
      const folders = (await namesIn(chats)).filter(isOfPlace);
      for (const folder of folders) await removeFolder(path.join(chats, folder));
      let removed = folders.length + (await received.forget({ sender, folders: isOfPlace }));
      for (const id of files) {
        if ((await outgoing.find(id)) === undefined) continue;
        await outgoing.remove(id);
        removed += 1;
      }
      return removed;
    },
    async tidy(now, retentionMs, waiting) {
      const runs = waiting.flatMap(({ message }) =>
        message?.task?.kind === 'run' ? [runOf(message.task)] : [],
      );
      const before = now - (runs.length === 0 ? restMs : nestedMs);
      const outcomes = await Promise.allSettled([
        removeUntouched(chats, now - retentionMs, () => true),
        outgoing.tidy(now - retentionMs),
        received.tidy(now - retentionMs),
        removeUntouched(scratch, before, (name) => !runs.includes(name)),
      ]);
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

async function removeUntouched(
  folder: string,
  before: number,
  mayGo: (name: string) => boolean,
): Promise<void> {
  const failures: unknown[] = [];
  for (const name of (await namesIn(folder)).filter(mayGo)) {
    const entry = path.join(folder, name);
    const stats = await stat(entry).catch(ifAbsent);
    // Commands can fake one of them, not both.
    const touched = stats === undefined ? before : Math.min(stats.mtimeMs, stats.ctimeMs);
    if (touched < before) await removeFolder(entry).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} folders could not be removed`);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ifAbsent)) ?? [];
}

/** At the start, then hourly until the signal aborts (Q12). */
export async function startRetention(options: {
  store: Pick<Store, 'prune' | 'inbox'>;
  files: Pick<KeptFiles, 'tidy'>;
  days(): number;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}): Promise<void> {
  const { store, files, days, clock, log, signal } = options;
  while (!signal.aborted) {
    const now = clock.now();
    const keptMs = days() * 86_400_000;
    await store
      .prune(now, keptMs)
      .catch((error: unknown) => log.error({ err: error }, 'the store could not be tidied'));
    await store.inbox
      .list('waiting')
      .then((waiting) => files.tidy(now, keptMs, waiting))
      .catch((error: unknown) => log.error({ err: error }, 'the workspace could not be tidied'));
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}
