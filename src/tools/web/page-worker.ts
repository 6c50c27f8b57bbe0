/** Converts one page in a worker thread, so that it can't block the bot. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodePage } from './decode-page.ts';
import { pageToMarkdown } from './page-to-markdown.ts';

const { bytes, charset, url } = workerData as Readonly<{ bytes: Uint8Array; charset?: string; url: string }>;
parentPort?.postMessage(pageToMarkdown(decodePage(bytes, charset, true), url));
