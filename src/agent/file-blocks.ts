import type Anthropic from '@anthropic-ai/sdk';
import type { Entry } from '../core/entry.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import type { ShownFile } from '../core/received.ts';

type Block = Anthropic.ContentBlockParam;
type UserEntry = Extract<Entry, { kind: 'user' }>;

/** More than 20 pictures must be smaller ones, and a request has 32 MB in base64. */
const most = { pictures: 20, bytes: 20_000_000 };

/**
 * The entries whose files are shown: all, until one more would be too much. Then every file before becomes words at
 * once, so that requests rarely change (M13).
 */
export function entriesShown(entries: readonly Entry[]): ReadonlySet<Entry> {
  const shown = new Set<Entry>();
  const held = { pictures: 0, bytes: 0 };
  for (const entry of entries) {
    if (entry.kind !== 'user' || entry.files === undefined) continue;
    const pictures = entry.files.filter(({ type }) => type === 'image').length;
    const bytes = entry.files.reduce((sum, { size }) => sum + size, 0);
    if (held.pictures + pictures > most.pictures || held.bytes + bytes > most.bytes) {
      shown.clear();
      Object.assign(held, { pictures: 0, bytes: 0 });
    }
    shown.add(entry);
    held.pictures += pictures;
    held.bytes += bytes;
  }
  return shown;
}

/** `withFiles` fills in the bytes. */
export function fileBlocks({ files = [] }: UserEntry, shown: boolean): readonly Block[] {
  return files.map((file) => (shown ? toBlock(file) : asWords(file, 'is not shown any more')));
}

export function fileOf(block: Block): ShownFile | undefined {
  if (block.type !== 'image' && block.type !== 'document') return undefined;
  const { source } = block as unknown as Readonly<{ source: Partial<ShownFile> }>;
  return source.hash === undefined ? undefined : (source as ShownFile);
}

/** What a model reads in place of a file. */
export function asWords({ type, name }: ShownFile, why: string): Anthropic.TextBlockParam {
  const what = type === 'image' ? 'picture' : 'document';
  return { type: 'text', text: labelled('host', `The ${what} ${name} stood here and ${why}.`) };
}

function toBlock(file: ShownFile): Block {
  return { type: file.type, source: file } as unknown as Block;
}
