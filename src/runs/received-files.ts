import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { freeSpace } from '../lib/files/free-space.ts';
import { ifAbsent } from '../lib/has-code.ts';
import { documentType } from '../core/received.ts';
import { endingOf, fileType, typeBytes } from '../lib/files/file-type.ts';
import { freeName, isNameFor, safeName } from '../lib/files/safe-name.ts';
import { writeInside } from '../lib/files/write-inside.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { chatGroup, isShownIn } from '../tools/built-in/run-folders.ts';
import type { Folders } from '../folders/folders.ts';
import { namesIn } from '../folders/plain-folders.ts';

export type KeptFile = Readonly<{
  hash: string;
  name: string;
  mime: string;
  words: string;
  size: number;
  sender?: string | undefined;
}>;

/** Selects files by the folder of their conversation and by who sent them. */
type Whose = (folder: string, sender: string | undefined) => boolean;

/** Files that people sent. The originals are out of reach of sandboxes; a copy lies in the chat's folder (M12). */
export type ReceivedFiles = Readonly<{
  /**
   * Stores a file by its content, once for each `ref`; `fetch` writes the bytes to a path. `quota` is the bytes that
   * the folder may hold; beyond it the result is `full`. `disk full` means that too little disk space is left for the
   * rest of the bot.
   */
  keep(
    folder: string,
    file: Readonly<{ ref: string; name: string; mime?: string | undefined; sender?: string | undefined }>,
    quota: number,
    fetch: (path: string) => Promise<void>,
  ): Promise<KeptFile | 'full' | 'disk full'>;
  /** Reads at most `limit` bytes. Undefined if the file is gone. Reading it keeps it longer. */
  read(folder: string, hash: string, limit: number): Promise<Buffer | undefined>;
  /** Removes a person's files, and all files of the given folders, with their copies. Returns how many were removed. */
  forget(gone: Readonly<{ sender: string; folders: (name: string) => boolean }>): Promise<number>;
  /** Lists files with their paths on this machine. */
  of(which: Whose): Promise<readonly Readonly<{ name: string; at: string }>[]>;
  /** Removes files that were not used since `before` (Unix ms), except those that are `held`. */
  tidy(before: number, held?: Whose): Promise<void>;
}>;

const record: z.ZodType<KeptFile> = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string(),
  mime: z.string(),
  words: z.string(),
  size: z.number(),
  sender: z.string().optional(),
});

const dayMs = 86_400_000;
/** Bytes of free disk space below which no file is accepted, because the store needs space, too. */
export const leftForOthers = 500_000_000;

/** The group of folders that hold originals. Each folder has the name of its conversation's folder. */
export const receivedGroup = 'received';

export function createReceivedFiles(folders: Folders, freeBytes = freeOnDisk): ReceivedFiles {
  const { shelf } = folders;
  const records = createRecords(folders);
  return {
    keep: createKeepReceived({ folders, records, freeBytes }),
    async read(folder, hash, limit) {
      const file = await shelf.find(ofReceived(folder), hash, true);
      const handle = file === undefined ? undefined : await open(file).catch(ifAbsent);
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        const bytes = Buffer.alloc(Math.min(size, limit));
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
        return bytes.subarray(0, bytesRead);
      } finally {
        await handle.close();
      }
    },
    ...createRemoveReceived(folders, records),
  };
}

function ofChat(folder: string): string {
  return `${chatGroup}/${folder}`;
}

function ofReceived(folder: string): string {
  return `${receivedGroup}/${folder}`;
}

type Records = ReturnType<typeof createRecords>;

/** Reads the records of files, each a JSON file beside the originals of its conversation. */
function createRecords({ shelf, list }: Folders) {
  async function get(folder: string, file: string): Promise<KeptFile | undefined> {
    const found = await shelf.find(ofReceived(folder), file);
    return found === undefined ? undefined : recordAt(found);
  }
  async function all(folder: string): Promise<readonly (readonly [file: string, kept: KeptFile])[]> {
    const records: (readonly [string, KeptFile])[] = [];
    // One after the other, because the number of open files is limited.
    for (const file of await shelf.names(ofReceived(folder))) {
      const kept = file.endsWith('.json') ? await get(folder, file) : undefined;
      if (kept !== undefined) records.push([file, kept]);
    }
    return records;
  }
  return {
    get,
    all,
    async select(which: Whose) {
      const found: Readonly<{ full: string; file: string; kept: KeptFile }>[] = [];
      for (const full of await list(receivedGroup))
        for (const [file, kept] of await all(path.basename(full)))
          if (which(path.basename(full), kept.sender)) found.push({ full, file, kept });
      return found;
    },
  };
}

function createKeepReceived({
  folders,
  records,
  freeBytes,
}: Readonly<{
  folders: Folders;
  records: Records;
  freeBytes(folder: string): Promise<number>;
}>): ReceivedFiles['keep'] {
  const { root, shelf } = folders;

  return async (folder, file, quota, fetch) => {
    const known = `${digest(file.ref).slice(0, 32)}.json`;
    const before = await records.get(folder, known);
    if (before !== undefined && (await shelf.find(ofReceived(folder), before.hash)) !== undefined) {
      await copyToChat(folders, folder, before);
      return before;
    }
    const draft = await shelf.draft(ofReceived(folder));
    if ((await freeBytes(root)) < leftForOthers) return 'disk full';
    try {
      await fetch(draft);
      const seen = await look(draft, file);
      await openChat(path.join(root, ofChat(folder)));
      if ((await held(folder, quota)) + seen.size > quota) return 'full';
      const kept: KeptFile = { ...seen, name: await nameFor(folder, file, seen), sender: file.sender };
      await shelf.keep(ofReceived(folder), kept.hash, draft);
      await writeFile(draft, JSON.stringify(kept), { flag: 'wx', mode: 0o600, flush: true });
      await shelf.keep(ofReceived(folder), known, draft);
      await copyToChat(folders, folder, kept);
      return kept;
    } finally {
      await rm(draft, { force: true });
    }
  };

  async function held(folder: string, quota: number): Promise<number> {
    return (await folders.size(ofReceived(folder), quota)) + (await folders.size(ofChat(folder), quota));
  }

  async function nameFor(
    folder: string,
    file: Readonly<{ name: string; sender?: string | undefined }>,
    seen: Pick<KeptFile, 'hash' | 'mime'>,
  ): Promise<string> {
    const known = (await records.all(folder)).map(([, kept]) => kept);
    const wanted = safeName(file.name, endingOf(seen.mime));
    const same = known.find(
      ({ hash, sender, name }) => hash === seen.hash && sender === file.sender && isNameFor(wanted, name),
    );
    if (same !== undefined) return same.name;
    const inChat = await folders.use([ofChat(folder)], 'reads', () =>
      namesIn(path.join(root, ofChat(folder))),
    );
    return freeName(wanted, new Set([...known.map(({ name }) => name), ...inChat]));
  }
}

async function copyToChat(
  { root, shelf, use }: Folders,
  folder: string,
  { hash, name }: KeptFile,
): Promise<void> {
  const kept = await shelf.find(ofReceived(folder), hash);
  if (kept === undefined) throw new Error(`the bytes of ${name} are gone`);
  await use([ofChat(folder)], 'changes', async () => {
    const chat = path.join(root, ofChat(folder));
    await openChat(chat);
    if ((await namesIn(chat)).includes(name)) return;
    if (!writeInside({ root: chat, names: [name] }, { copyOf: kept }))
      throw new Error(`${name} could not be copied to its conversation`);
  });
}

/** Removes the copies in the chat's folder and in those of its restricted skills (S16). */
async function removeCopies(folders: Folders, folder: string, name: string, before?: number): Promise<void> {
  const chats = (await folders.list(chatGroup)).filter((chat) => isShownIn(path.basename(chat), folder));
  for (const chat of chats) await folders.removeFile(chat, name, before);
}

function createRemoveReceived(folders: Folders, records: Records): Omit<ReceivedFiles, 'keep' | 'read'> {
  const { shelf } = folders;

  return {
    async forget({ sender, folders: isGone }) {
      let removed = 0;
      for (const full of await folders.list(receivedGroup)) {
        const folder = path.basename(full);
        if (isGone(folder)) {
          await folders.remove([full]);
          removed += 1;
          continue;
        }
        const all = await records.all(folder);
        const theirs = all.filter(([, kept]) => kept.sender === sender);
        const others = new Set(all.filter((one) => !theirs.includes(one)).map(([, { hash }]) => hash));
        for (const [file, kept] of theirs) {
          await removeCopies(folders, folder, kept.name);
          await shelf.remove(full, others.has(kept.hash) ? [file] : [kept.hash, file]);
          removed += 1;
        }
      }
      return removed;
    },
    async of(which) {
      const found: { name: string; at: string }[] = [];
      for (const { full, file, kept } of await records.select(which)) {
        const at = await shelf.find(full, kept.hash);
        if (at !== undefined) found.push({ name: `${full}/${file.slice(0, 8)}-${kept.name}`, at });
      }
      return found;
    },
    async tidy(before, held) {
      const uses = await shelf.uses(receivedGroup);
      const kept = held === undefined ? [] : await records.select(held);
      const stays = new Set(
        kept.flatMap(({ full, file, kept: { hash } }) => [`${full}/${file}`, `${full}/${hash}`]),
      );
      const usedAt = new Map(uses.map(({ folder, path: name, usedAt }) => [`${folder}/${name}`, usedAt]));
      for (const { folder, path: name, usedAt: own } of uses) {
        if (own >= (name.endsWith('.part') ? Date.now() - dayMs : before)) continue;
        const chat = path.basename(folder);
        if (stays.has(`${folder}/${name}`)) continue;
        // A record stays as long as its file is used.
        const kept = name.endsWith('.json') ? await records.get(chat, name) : undefined;
        if (kept !== undefined && (usedAt.get(`${folder}/${kept.hash}`) ?? 0) >= before) continue;
        if (kept !== undefined) await removeCopies(folders, chat, kept.name, before);
        await shelf.remove(folder, [name]);
      }
      await shelf.sweep(receivedGroup, before);
    },
  };
}

/**
 * Syncs a file to disk and detects its type from its first bytes. Only what begins like a picture or PDF counts as one.
 */
async function look(
  file: string,
  { name, mime: told }: Readonly<{ name: string; mime?: string | undefined }>,
): Promise<Omit<KeptFile, 'name' | 'sender'>> {
  const hash = createHash('sha256');
  const start = Buffer.alloc(typeBytes);
  let size = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size < typeBytes) chunk.copy(start, size);
    size += chunk.length;
  }
  const handle = await open(file);
  await handle.sync().finally(() => handle.close());
  const { mime, words } = fileType(name, start.subarray(0, size));
  const unknown = mime === 'application/octet-stream' && told !== undefined && endingOf(told) !== '';
  const isTold = unknown && !told.startsWith('image/') && told !== documentType;
  return { hash: hash.digest('hex'), mime: isTold ? told : mime, words, size };
}

/** Makes the folder writable again, because a command may have changed its mode. */
async function openChat(chat: string): Promise<void> {
  await mkdir(chat, { recursive: true, mode: 0o700 });
  await chmod(chat, 0o700);
}

const freeOnDisk = async (folder: string): Promise<number> => freeSpace(folder) ?? Infinity;

async function recordAt(file: string): Promise<KeptFile | undefined> {
  const text = await readFile(file, 'utf8').catch(ifAbsent);
  return text === undefined ? undefined : record.safeParse(parseJson(text)).data;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
