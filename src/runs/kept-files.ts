import path from 'node:path';
import { createHolds, type Holds } from '../access/holds.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Folders } from '../folders/folders.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createOutgoingFiles, outgoingGroup, type OutgoingFiles } from '../replies/artifacts.ts';
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
   * Removes files that are no longer needed; `waiting` is the whole inbox, `held` what is under a legal hold. It
   * continues after a failure, and rejects at the end (T10, Q12, L18).
   */
  tidy(now: number, retentionMs: number, waiting: readonly ListedItem[], held?: Held): Promise<void>;
  /** Does work with the files of a person and of places, which are on this machine meanwhile (L18). */
  reading<Result>(
    whose: Readonly<{ sender: string; places: readonly string[]; files: readonly string[] }>,
    work: (
      found: Readonly<{ folders: readonly FoundPath[]; files: readonly FoundPath[] }>,
    ) => Promise<Result>,
  ): Promise<Result>;
}>;

/** A name for an archive, and an absolute path. */
type FoundPath = Readonly<{ name: string; at: string }>;

/** People and keys of conversations under a legal hold. */
type Held = Readonly<{ people: readonly string[]; places: readonly string[] }>;

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
    async reading({ sender, places, files }, work) {
      const names = places.map(chatFolderName);
      const isOfPlace = (folder: string): boolean => names.some((name) => isOfChat(folder, name));
      const chats = (await folders.list(chatGroup)).filter((folder) => isOfPlace(path.basename(folder)));
      const sent: FoundPath[] = [];
      for (const id of files) {
        const at = await outgoing.find(id);
        if (at !== undefined) sent.push({ name: `${outgoingGroup}/${id}`, at });
      }
      return folders.use(chats, 'reads', async () =>
        work({
          folders: chats.map((name) => ({ name, at: path.join(folders.root, name) })),
          files: [...(await received.of((folder, from) => from === sender || isOfPlace(folder))), ...sent],
        }),
      );
    },
    async tidy(now, retentionMs, waiting, { people, places } = { people: [], places: [] }) {
      const names = places.map(chatFolderName);
      const isFree = (folder: string): boolean => !names.some((name) => isOfChat(folder, name));
      const runs = waiting.flatMap(({ message }) =>
        message?.task?.kind === 'run' ? [runOf(message.task)] : [],
      );
      const before = now - (runs.length === 0 ? restMs : nestedMs);
      const outcomes = await Promise.allSettled([
        folders.tidy(chatGroup, now - retentionMs, isFree),
        // Their names say nothing about whose they are, so all of them wait for a hold.
        places.length === 0 ? outgoing.tidy(now - retentionMs) : undefined,
        received.tidy(
          now - retentionMs,
          people.length === 0
            ? undefined
            : (folder, sender) => !isFree(folder) || people.includes(sender ?? ''),
        ),
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
  const holds = createHolds(options);
  while (!signal.aborted) {
    const now = clock.now();
    const keptMs = days() * 86_400_000;
    await store
      .prune(now, keptMs)
      .catch((error: unknown) => log.error({ err: error }, 'could not clean up the store'));
    await store.inbox
      .list('waiting')
      .then(async (waiting) => files.tidy(now, keptMs, waiting, await heldIn(store, holds)))
      .catch((error: unknown) => log.error({ err: error }, 'could not clean up the workspace'));
    await pruneRecord(now).catch((error: unknown) =>
      log.error({ err: error }, 'could not clean up the audit'),
    );
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }

  /** The record can't be cut by person, so all of it waits for the last hold (L18). */
  async function pruneRecord(now: number): Promise<void> {
    const kept = auditDays();
    const held = (await holds.list()).map(({ id }) => id);
    if (held.length > 0) log.info({ held }, 'retention leaves out what is under a legal hold');
    else if (kept !== undefined) await audit.prune(now - kept * 86_400_000);
  }
}

/** The people and conversations that are under a legal hold, also those in which such a person spoke. */
async function heldIn(store: Store, holds: Holds): Promise<Held> {
  const people = (await holds.list()).map(({ id }) => id);
  const places = await Promise.all(people.map((id) => store.placesNaming(id)));
  return { people, places: [...people, ...places.flat()] };
}
