import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, lstatSync, unlinkSync } from 'node:fs';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ifAbsent } from '../lib/has-code.ts';
import { createRefusedFiles, withFiles } from '../agent/with-files.ts';
import type { Model } from '../core/model.ts';
import { endingOf, fileType, typeBytes } from '../lib/files/file-type.ts';
import { folderSize } from '../lib/files/list-inside.ts';
import { enterFolder, unlessRefused } from '../lib/files/open-inside.ts';
import { freeName, safeName } from '../lib/files/safe-name.ts';
import { writeInside } from '../lib/files/write-inside.ts';
import { parseJson } from '../lib/json/json-values.ts';
import type { Log } from '../lib/log.ts';
import { chatFolders } from '../tools/built-in/run-folders.ts';

export type KeptFile = Readonly<{
  hash: string;
  name: string;
  mime: string;
  words: string;
  size: number;
  sender?: string | undefined;
}>;

/** Out of reach of sandboxes; a copy is in the chat folder (M12). */
export type ReceivedFiles = Readonly<{
  /**
   * Stores by content, once for each `ref`; `fetch` writes the bytes. `quota`: bytes of the folder. `disk full`: the
   * rest of the bot needs the room.
   */
  keep(
    folder: string,
    file: Readonly<{ ref: string; name: string; mime?: string | undefined; sender?: string | undefined }>,
    quota: number,
    fetch: (path: string) => Promise<void>,
  ): Promise<KeptFile | 'full' | 'disk full'>;
  /** At most `limit` bytes; undefined if gone. Reading keeps it longer. */
  read(folder: string, hash: string, limit: number): Promise<Buffer | undefined>;
  /** Copies included. Returns how many. */
  forget(gone: Readonly<{ sender: string; folders: (name: string) => boolean }>): Promise<number>;
  /** Removes what was not used since `before`. */
  tidy(before: number): Promise<void>;
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
/** Bytes: the store needs room, too. */
export const leftForOthers = 500_000_000;

export const receivedFolder = (workspace: string): string => path.join(workspace, 'received');

export function createReceivedFiles(workspace: string, freeBytes = freeOnDisk): ReceivedFiles {
  const all = receivedFolder(workspace);
  const chatOf = (folder: string): string => path.join(chatFolders(workspace), folder);
  const inFolder = (folder: string, name: string): string => path.join(all, folder, name);

  async function recordsOf(folder: string): Promise<readonly (readonly [file: string, kept: KeptFile])[]> {
    const files = (await namesIn(path.join(all, folder))).filter((name) => name.endsWith('.json'));
    const records: (readonly [string, KeptFile])[] = [];
    // Sequential: open files are limited.
    for (const file of files) {
      const kept = await recordAt(inFolder(folder, file));
      if (kept !== undefined) records.push([file, kept]);
    }
    return records;
  }

  async function copy(folder: string, { hash, name }: KeptFile): Promise<void> {
    const chat = chatOf(folder);
    await openChat(chat);
    if ((await namesIn(chat)).includes(name)) return;
    writeInside({ root: chat, names: [name] }, { copyOf: inFolder(folder, hash) });
  }

  function removeCopy(folder: string, { name }: KeptFile, before = Infinity): void {
    const chat = enterFolder(chatOf(folder), []);
    unlessRefused(() => {
      if (chat !== undefined && lstatSync(chat.at(name)).mtimeMs < before) unlinkSync(chat.at(name));
    });
    chat?.leave();
  }

  return {
    async keep(folder, file, quota, fetch) {
      const known = inFolder(folder, `${digest(file.ref).slice(0, 32)}.json`);
      const before = await recordAt(known);
      if (before !== undefined && (await isThere(inFolder(folder, before.hash)))) {
        await copy(folder, before);
        return before;
      }
      await mkdir(path.join(all, folder), { recursive: true, mode: 0o700 });
      if ((await freeBytes(all)) < leftForOthers) return 'disk full';
      const draft = inFolder(folder, `${randomBytes(6).toString('hex')}.part`);
      try {
        await fetch(draft);
        const seen = await look(draft, file);
        await openChat(chatOf(folder));
        const held =
          ((await folderSize(path.join(all, folder), quota)) ?? Infinity) +
          ((await folderSize(chatOf(folder), quota)) ?? Infinity);
        if (held + seen.size > quota) return 'full';
        const records = (await recordsOf(folder)).map(([, kept]) => kept);
        const same = records.find(({ hash, sender }) => hash === seen.hash && sender === file.sender);
        const taken = new Set([...records.map(({ name }) => name), ...(await namesIn(chatOf(folder)))]);
        const name = same?.name ?? freeName(safeName(file.name, endingOf(seen.mime)), taken);
        const kept: KeptFile = {
          ...seen,
          name,
          sender: file.sender,
        };
        await rename(draft, inFolder(folder, kept.hash));
        await writeFile(draft, JSON.stringify(kept), { flag: 'wx', mode: 0o600, flush: true });
        await rename(draft, known);
        await copy(folder, kept);
        return kept;
      } finally {
        await rm(draft, { force: true });
      }
    },
    async read(folder, hash, limit) {
      const file = inFolder(folder, hash);
      const handle = await open(file).catch(ifAbsent);
      if (handle === undefined) return undefined;
      try {
        const { size, mtimeMs } = await handle.stat();
        const bytes = Buffer.alloc(Math.min(size, limit));
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
        const now = Date.now();
        if (mtimeMs < now - dayMs) await utimes(file, new Date(now), new Date(now));
        return bytes.subarray(0, bytesRead);
      } finally {
        await handle.close();
      }
    },
    async forget({ sender, folders }) {
      let removed = 0;
      for (const folder of await namesIn(all)) {
        if (folders(folder)) {
          await rm(path.join(all, folder), { recursive: true, force: true });
          removed += 1;
          continue;
        }
        const records = await recordsOf(folder);
        const theirs = records.filter(([, kept]) => kept.sender === sender);
        const others = new Set(records.filter((one) => !theirs.includes(one)).map(([, { hash }]) => hash));
        for (const [file, kept] of theirs) {
          removeCopy(folder, kept);
          if (!others.has(kept.hash)) await rm(inFolder(folder, kept.hash), { force: true });
          await rm(inFolder(folder, file), { force: true });
          removed += 1;
        }
      }
      return removed;
    },
    async tidy(before) {
      for (const folder of await namesIn(all)) {
        for (const name of await namesIn(path.join(all, folder))) {
          const file = inFolder(folder, name);
          // A record goes with its file.
          const kept = name.endsWith('.json') ? await recordAt(file) : undefined;
          const counted = kept === undefined ? file : inFolder(folder, kept.hash);
          const { mtimeMs = 0 } = (await stat(counted).catch(ifAbsent)) ?? {};
          const until = name.endsWith('.part') ? Date.now() - dayMs : before;
          if (mtimeMs >= until) continue;
          if (kept !== undefined) removeCopy(folder, kept, before);
          await rm(file, { force: true });
        }
        const { mtimeMs = Infinity } = (await stat(path.join(all, folder)).catch(ifAbsent)) ?? {};
        const isEmpty = (await namesIn(path.join(all, folder))).length === 0;
        if (isEmpty && mtimeMs < before) await rmdir(path.join(all, folder));
      }
    },
  };
}

/** Syncs it; detects the type from its first bytes. */
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
  return { hash: hash.digest('hex'), mime: unknown && !told.startsWith('image/') ? told : mime, words, size };
}

/** A command may have changed its mode. */
async function openChat(chat: string): Promise<void> {
  await mkdir(chat, { recursive: true, mode: 0o700 });
  await chmod(chat, 0o700);
}

async function freeOnDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function recordAt(file: string): Promise<KeptFile | undefined> {
  const text = await readFile(file, 'utf8').catch(ifAbsent);
  return text === undefined ? undefined : record.safeParse(parseJson(text)).data;
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(ifAbsent)) !== undefined;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ifAbsent)) ?? [];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Shows the model a conversation's files (M12). */
export type Seeing = (model: Model, chat: string) => Model;

export function createSeeing({
  received,
  log,
}: Readonly<{ received: Pick<ReceivedFiles, 'read'>; log: Log }>): Seeing {
  const refused = createRefusedFiles();
  return (model, chat) => {
    const folder = path.basename(chat);
    return withFiles(model, { read: ({ hash, size }) => received.read(folder, hash, size), refused, log });
  };
}
