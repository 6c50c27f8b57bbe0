import path from 'node:path';
import type { Audit } from '../audit/create-audit.ts';
import type { Folders } from '../folders/folders.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createOutgoingFiles, type OutgoingFiles } from '../replies/artifacts.ts';
import { createReceivedFiles, type ReceivedFiles } from './received-files.ts';
import { runOf } from './tasks.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { chatFolderName, chatGroup, isOfChat, scratchGroup } from '../tools/built-in/run-folders.ts';

const everyMs = 3_600_000;

export type KeptFiles = Readonly<{
  outgoing: OutgoingFiles;
  received: ReceivedFiles;
  /** Removes files of a person and of places. Returns how many were removed (Q12). */
  forget(
    gone: Readonly<{ sender: string; places: readonly string[]; files: readonly string[] }>,
  ): Promise<number>;
  /**
   * Removes files that are no longer needed; `waiting` is the whole inbox. It continues after a failure, and rejects at
   * the end (T10, Q12).
   */
  tidy(now: number, retentionMs: number, waiting: readonly ListedItem[]): Promise<void>;
}>;

/** How long scratch folders are kept, because a run may resume within half an hour. */
const restMs = 3_600_000;
/** How long they are kept while runs are active: nested runs have no item in the inbox. */
const nestedMs = 86_400_000;

export function createKeptFiles(folders: Folders): KeptFiles {
  const outgoing = createOutgoingFiles(folders);
  const received = createReceivedFiles(folders);

  return {
    outgoing,
    received,
    async forget({ sender, places, files }) {
      const names = places.map(chatFolderName);
      const isOfPlace = (folder: string): boolean => names.some((name) => isOfChat(folder, name));
      const theirs = (await folders.list(chatGroup)).filter((folder) => isOfPlace(path.basename(folder)));
      await folders.remove(theirs);
      let removed = theirs.length + (await received.forget({ sender, folders: isOfPlace }));
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
        folders.tidy(chatGroup, now - retentionMs, () => true),
        outgoing.tidy(now - retentionMs),
        received.tidy(now - retentionMs),
        folders.tidy(scratchGroup, before, (name) => !runs.includes(name)),
      ]);
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

/** Removes old data at the start and then every hour, until the signal aborts (Q12). */
export async function startRetention(options: {
  store: Store;
  files: KeptFiles;
  audit: Audit;
  days(): number;
  /** How many days the audit is kept; undefined: for good. */
  auditDays(): number | undefined;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}): Promise<void> {
  const { store, files, audit, days, auditDays, clock, log, signal } = options;
  while (!signal.aborted) {
    const now = clock.now();
    const keptMs = days() * 86_400_000;
    await store
      .prune(now, keptMs)
      .catch((error: unknown) => log.error({ err: error }, 'could not clean up the store'));
    await store.inbox
      .list('waiting')
      .then((waiting) => files.tidy(now, keptMs, waiting))
      .catch((error: unknown) => log.error({ err: error }, 'could not clean up the workspace'));
    const kept = auditDays();
    if (kept !== undefined)
      await audit
        .prune(now - kept * 86_400_000)
        .catch((error: unknown) => log.error({ err: error }, 'could not clean up the audit'));
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}
