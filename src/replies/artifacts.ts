import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { ifAbsent } from '../lib/has-code.ts';
import type { Channel, PartFile } from '../core/channel.ts';
import type { FileLimits } from '../core/file-limits.ts';
import type { Artifact, DeliveredFile, DeliveredArtifacts, DeliverArtifacts } from '../core/tool.ts';
import { fileType, typeBytes } from '../lib/files/file-type.ts';
import type { InParts, Redaction } from '../lib/redaction/redact.ts';
import { byteSize, oneLine, withoutEnd } from '../lib/text/text.ts';
import type { Folders } from '../folders/folders.ts';
import { partKey, type Replies } from './replies.ts';
import type { Store } from '../store/store.ts';

/** Most bytes of one file, on any platform. */
const largestOutgoing = 100_000_000;

type DeliveryDeps = Readonly<{
  store: Store;
  outgoing: OutgoingFiles;
  channels: ReadonlyMap<string, Channel>;
  replies: Replies;
  /** Removes secrets from name, caption and bytes (S2). */
  clean(): Redaction;
}>;

/**
 * Stores the bytes, then the outbox row, both named by the call, so that a repeat sends nothing twice (T12, Q6). Files
 * go only to the conversation in which the work is done (A12).
 */
export function createDeliverArtifacts({
  store,
  outgoing,
  channels,
  replies,
  clean,
}: DeliveryDeps): DeliverArtifacts {
  /**
   * Removes bytes of a call that was repeated after a crash, if its part has arrived meanwhile. Nothing else would
   * remove them.
   */
  async function removeSent([first, ...rest]: readonly [Ready, ...Ready[]]): Promise<void> {
    if ((await store.outbox.receipt(partKey(first.key, 0))) === undefined) return;
    for (const { file } of [first, ...rest]) await outgoing.remove(file.id);
  }

  return async (artifacts, of) => {
    const { conversation, replyTo } = of.requester;
    const channel = channels.get(conversation.channel);
    if (channel === undefined) throw new Error(`the channel ${conversation.channel} is not open`);
    const largest = Math.min(channel.files.largest, largestOutgoing);
    const ready: Ready[] = [];
    let refused: Refused | undefined;
    for (const [index, artifact] of artifacts.entries()) {
      const kept = await keepArtifact(
        { artifact, of, index: of.index + index },
        { largest, outgoing, clean },
      );
      if ('ok' in kept) {
        refused = kept;
        break;
      }
      ready.push(kept);
    }
    const albums = albumsOf(ready, channel.files);
    const rows = albums.map(async ([first, ...rest]) => {
      const captions = [first, ...rest].map((one) => one.caption);
      const caption = captions.filter((text) => text !== '').join('\n');
      const below = channel.files.fitsCaption(caption);
      const part = {
        markdown: below ? caption : '',
        file: first.file,
        more: rest.length === 0 ? undefined : rest.map(({ file }) => file),
        replyTo,
      };
      return [
        { key: partKey(first.key, 0), conversation, part },
        ...(below ? [] : await replies.rows(conversation, `${first.key}-caption`, caption)),
      ];
    });
    const outbox = (await Promise.all(rows)).flat();
    if (outbox.length > 0) await store.commit({ outbox });
    await Promise.all(albums.map(removeSent));
    const delivered = ready.map(({ outcome }) => ({ ok: true, ...outcome }) as const);
    return refused === undefined ? delivered : [...delivered, refused];
  };
}

type Of = Parameters<DeliverArtifacts>[1];

/** A file whose bytes are stored, so that it can be sent. */
type Ready = Readonly<{ outcome: DeliveredFile; key: string; caption: string; file: PartFile }>;

/** Stores the bytes of one file. `index` is its place among the files of the call. */
async function keepArtifact(
  { artifact, of, index }: Readonly<{ artifact: Artifact; of: Of; index: number }>,
  { largest, outgoing, clean }: Readonly<{ largest: number; outgoing: OutgoingFiles; clean(): Redaction }>,
): Promise<Ready | Refused> {
  const key = `${of.turn}!file-${digest(`${of.call}\n${index}`).slice(0, 16)}`;
  const id = digest(key).slice(0, 32);
  const { text: redact, bytesInParts } = clean();
  const name = redact(fileName(artifact.name));
  const kept = await outgoing.keep(id, cleanBytes(artifact.data, bytesInParts()), name, largest);
  if (kept === 'too large') {
    const problem = `${name} is too large: at most ${byteSize(largest)} can be sent here`;
    return { ok: false, code: 'FILE_TOO_LARGE', problem };
  }
  if (kept === 'full') {
    const problem = `${name} was not taken: too many files wait to be sent already. Try again when they have arrived`;
    return { ok: false, code: 'LIMIT_REACHED', problem };
  }
  if (kept.size === 0) {
    await outgoing.remove(id);
    const problem = `${name} is empty, and empty files can not be sent`;
    return { ok: false, code: 'ARGUMENTS_INVALID', problem };
  }
  const outcome = { name, mime: artifact.mime ?? kept.mime, size: kept.size };
  const { language } = of.requester;
  const file = { id, ...outcome, language };
  return { outcome, key, caption: redact(artifact.caption ?? '').trim(), file };
}

type Refused = Exclude<DeliveredArtifacts, { ok: true }>;

/** Telegram and Slack allow no more. */
const mostInAlbum = 10;

function albumsOf<One extends Readonly<{ file: PartFile }>>(
  files: readonly One[],
  { album }: FileLimits,
): readonly (readonly [One, ...One[]])[] {
  const albums: [One, ...One[]][] = [];
  for (const one of files) {
    const last = albums.at(-1);
    const kind = album?.(one.file);
    const joins = kind !== undefined && last !== undefined && album?.(last[0].file) === kind;
    if (joins && last.length < mostInAlbum) last.push(one);
    else albums.push([one]);
  }
  return albums;
}

/** Removes secrets from the bytes, also those that are cut across pieces. */
async function* cleanBytes(data: Artifact['data'], parts: InParts<Buffer>): AsyncGenerator<Uint8Array> {
  const pieces = typeof data === 'string' || data instanceof Uint8Array ? [Buffer.from(data)] : data;
  for await (const piece of pieces) yield parts.push(Buffer.from(piece));
  yield parts.end();
}

/**
 * A file name that is safe everywhere: without path, control characters and names of Windows devices, at most 180
 * bytes.
 */
export function fileName(name: string): string {
  const last = path.posix.basename(name.toWellFormed().replaceAll('\\', '/'));
  const flat = oneLine(last, last.length + 1).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}"';:*?<>|/`]/gu, '_');
  const safe = withoutEnd(flat.replace(/^[. ]+/, ''), '. ');
  if (safe === '') return 'file';
  return shorten(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(safe) ? `_${safe}` : safe);
}

/** In bytes; disks allow 255. */
const longestName = 180;
const longestEnding = 20;

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const { ext } = path.posix.parse(name);
  const ending = Buffer.byteLength(ext) <= longestEnding ? ext : '';
  const points = [...name.slice(0, name.length - ending.length)];
  const room = longestName - Buffer.byteLength(ending);
  // A code point has at most four bytes.
  points.splice(room);
  while (Buffer.byteLength(points.join('')) > room) points.pop();
  return points.join('') + ending;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Files on their way to the platforms, where sandboxes can't reach them (Q6, T12). */
export type OutgoingFiles = Readonly<{
  /**
   * Writes a file atomically (0600). If the id is known, its file stays. `too large`: it has more bytes than `largest`.
   * `full`: files of 2 GB wait already.
   */
  keep(
    id: string,
    data: Artifact['data'],
    name: string,
    largest: number,
  ): Promise<Kept | 'too large' | 'full'>;
  find(id: string): Promise<string | undefined>;
  remove(id: string): Promise<void>;
  /** Removes files that were kept before this time and never sent. */
  tidy(before: number): Promise<void>;
}>;

type Kept = Readonly<{ size: number; mime: string }>;

/** Name of the folder for files on their way to the platforms. */
export const outgoingGroup = 'outgoing';

export function createOutgoingFiles({ shelf, size }: Folders, mostHeld = 2_000_000_000): OutgoingFiles {
  const find = (id: string): Promise<string | undefined> => shelf.find(outgoingGroup, id);

  async function look(id: string, name: string): Promise<Kept | undefined> {
    const file = await find(id);
    const handle = file === undefined ? undefined : await open(file).catch(ifAbsent);
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(typeBytes), 0, typeBytes, 0);
      return { size, mime: fileType(name, buffer.subarray(0, bytesRead)).mime };
    } finally {
      await handle.close();
    }
  }

  return {
    async keep(id, data, name, largest) {
      const before = await look(id, name);
      if (before !== undefined) return before;
      if ((await size(outgoingGroup, mostHeld)) > mostHeld) return 'full';
      const draft = await shelf.draft(outgoingGroup);
      try {
        const handle = await open(draft, 'wx', 0o600);
        const whole = await write(handle, data, largest).finally(() => handle.close());
        if (!whole) return 'too large';
        await shelf.keep(outgoingGroup, id, draft);
      } finally {
        await rm(draft, { force: true });
      }
      return (await look(id, name)) ?? Promise.reject(new Error('a file was removed as it was kept'));
    },
    find,
    remove: (id) => shelf.remove(outgoingGroup, [id]),
    async tidy(before) {
      const unsent = (await shelf.uses(outgoingGroup)).filter(({ usedAt }) => usedAt < before);
      await shelf.remove(
        outgoingGroup,
        unsent.map(({ path: name }) => name),
      );
      await shelf.sweep(outgoingGroup, before);
    },
  };
}

async function write(handle: FileHandle, data: Artifact['data'], largest: number): Promise<boolean> {
  let left = largest;
  for await (const chunk of chunksOf(data)) {
    left -= chunk.length;
    if (left < 0) return false;
    await handle.writeFile(chunk);
  }
  await handle.sync();
  return true;
}

async function* chunksOf(data: Artifact['data']): AsyncGenerator<Uint8Array> {
  if (typeof data === 'string') yield Buffer.from(data);
  else if (data instanceof Uint8Array) yield data;
  else yield* data;
}
