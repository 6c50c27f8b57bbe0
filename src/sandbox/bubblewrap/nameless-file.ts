import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file without a name: it is gone with the process. Linux only. */
export type NamelessFile = Readonly<{
  /** Opened anew to be read from its beginning; whoever asks closes it. */
  open(): number;
  close(): void;
}>;

/** Keeps some bytes where another program can be handed them as an open file. */
export function createNamelessFile(content: string | Uint8Array): NamelessFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-file-'));
  try {
    const name = path.join(folder, 'file');
    writeFileSync(name, content, { mode: 0o600 });
    const kept = openSync(name, 'r');
    return { open: () => openSync(`/proc/self/fd/${kept}`, 'r'), close: () => closeSync(kept) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
