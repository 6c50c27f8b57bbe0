import { createWorkerTask } from '../processes/worker-task.ts';
import type { OfficeProblem, OfficeText } from './office-text.ts';

/** Why nothing of a document was read. `time`: it took too long. `failed`: its reader threw an error. */
export type UnreadOffice = OfficeProblem | 'time' | 'failed';

/** Reads at most `most` characters of a DOCX, XLSX or PPTX file. Rejects only if the signal is aborted. */
export type ReadOffice = (
  document: Readonly<{ bytes: Buffer; most: number }>,
  signal: AbortSignal,
) => Promise<OfficeText | UnreadOffice>;

/** Milliseconds, which is far more than a document within its budget takes. */
const longestMs = 10_000;

/** Reads one document after another in a thread, which is ended if it takes too long (S15). */
export function createReadOffice(): ReadOffice {
  const read = createWorkerTask<unknown, OfficeText | OfficeProblem>(
    new URL('./office-worker', import.meta.url),
    { ms: longestMs },
  );
  return async (document, signal) => {
    const result = await read(document, signal);
    return result.ok ? result.answer : result.why;
  };
}
