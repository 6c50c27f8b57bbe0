import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { listTar, type FoundMember } from '../../lib/files/tar.ts';
import { hasCode } from '../../lib/has-code.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import { oneLine } from '../../lib/text/text.ts';
import {
  archiveFormat,
  archiveHead,
  endMember,
  firstMember,
  newerHead,
  type ArchiveHead,
} from './archive-head.ts';

export type OpenArchive = Readonly<{
  head: ArchiveHead;
  /** All members but the two that describe the archive. */
  members: readonly FoundMember[];
  text(name: string): Promise<string | undefined>;
  pieces(member: FoundMember): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}>;

const atOnce = 1_048_576;
/** How many bytes a member may have that is read as a whole. */
const longestText = 4_000_000;

/**
 * Opens an archive after checking that it is complete and of a known form. Every byte is compared with the checksum.
 * Throws OperatorError.
 */
export async function openArchive(file: string): Promise<OpenArchive> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    throw new OperatorError(`There is no ${file}.`, { cause: error });
  });
  try {
    const all = await listTar(handle);
    const head = await readHead(handle, all[0]);
    await checkEnd(handle, all.at(-1));
    return {
      head,
      members: all.slice(1, -1),
      async text(name) {
        const member = all.find((one) => one.name === name);
        return member === undefined ? undefined : (await bytesOf(handle, member)).toString('utf8');
      },
      pieces: (member) => piecesFrom(handle, member.at, member.size),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    if (!(error instanceof Error)) throw error;
    const why = oneLine(error.message, 1_000).replace(/\.$/, '');
    throw new OperatorError(`${file} can't be restored: ${why}. Nothing was written.`, { cause: error });
  }
}

async function readHead(handle: FileHandle, first: FoundMember | undefined): Promise<ArchiveHead> {
  if (first?.name !== firstMember) throw new Error('it is no backup of Skillet');
  const written = parseJson((await bytesOf(handle, first)).toString('utf8'));
  const head = archiveHead.safeParse(written);
  if (head.success) return head.data;
  const { data } = newerHead.safeParse(written);
  if (data === undefined || data.format === archiveFormat) throw new Error(`its ${firstMember} is damaged`);
  throw new Error(
    `Skillet ${data.skillet} made it, in a form that this version does not know. Update Skillet`,
  );
}

async function checkEnd(handle: FileHandle, last: FoundMember | undefined): Promise<void> {
  if (last?.name !== endMember) throw new Error('it is cut off');
  const end = z
    .object({ sha256: z.string() })
    .safeParse(parseJson((await bytesOf(handle, last)).toString('utf8')));
  const hash = createHash('sha256');
  for await (const piece of piecesFrom(handle, 0, last.header)) hash.update(piece);
  if (end.data?.sha256 !== hash.digest('hex')) throw new Error('it is damaged: its checksum is another one');
}

async function bytesOf(handle: FileHandle, { name, at, size }: FoundMember): Promise<Buffer> {
  if (size > longestText) throw new Error(`${name} is too long`);
  const pieces: Buffer[] = [];
  for await (const piece of piecesFrom(handle, at, size)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* piecesFrom(handle: FileHandle, from: number, size: number): AsyncGenerator<Buffer> {
  for (let at = from; at < from + size;) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(Math.min(atOnce, from + size - at)),
      0,
      Math.min(atOnce, from + size - at),
      at,
    );
    if (bytesRead === 0) throw new Error('it is cut off');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
