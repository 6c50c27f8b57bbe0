import { Worker } from 'node:worker_threads';
import { createMutex } from '../../lib/async/mutex.ts';
import type { PageText } from './page-to-markdown.ts';

/** HTML as it came, and where it came from. */
export type HtmlPage = Readonly<{ bytes: Uint8Array; charset?: string; url: string }>;

/** Makes Markdown of HTML; rejects where that can't be done in 10 s, or with the signal's reason. */
export type ReadPage = (page: HtmlPage, signal: AbortSignal) => Promise<PageText>;

const timeoutMs = 10_000;

/** Converts pages in a thread of their own, one page at a time. */
export function createReadPage(): ReadPage {
  const inTurn = createMutex();
  return (page, signal) => inTurn(() => convert(page, signal));
}

async function convert(page: HtmlPage, signal: AbortSignal): Promise<PageText> {
  signal.throwIfAborted();
  const name = import.meta.filename.endsWith('.ts') ? './page-worker.ts' : './page-worker.js';
  const worker = new Worker(new URL(name, import.meta.url), { env: {}, workerData: page });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await new Promise<PageText>((resolve, reject) => {
      worker.once('message', resolve).once('error', reject);
      const end = (): void => reject(new Error('the page could not be read'));
      worker.once('exit', end);
      AbortSignal.any([signal, timeout]).addEventListener('abort', end);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new Error('the page takes too long to read', { cause: error });
    throw error;
  } finally {
    await worker.terminate();
  }
}
