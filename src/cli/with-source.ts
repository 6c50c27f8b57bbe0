import type { SourceAddress } from '../config/source-address.ts';
import { OperatorError } from '../core/errors.ts';
import { installLimits } from '../skills/install/install-limits.ts';
import { openSource } from '../skills/install/install-open.ts';
import { quarantineFolder } from '../skills/install/install-skills.ts';
import type { SourceSnapshot } from '../skills/install/install-source.ts';
import { progressLine } from './progress-line.ts';

/** Opens a source for as long as `use` takes, showing how far it is (L9). Ctrl-C ends git and clears the quarantine; then it throws OperatorError. */
export async function withSource<T>(
  options: Readonly<{ dataDir: string; address: SourceAddress; ref?: string }>,
  use: (snapshot: SourceSnapshot) => Promise<T>,
): Promise<T> {
  const { dataDir, address, ref } = options;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new OperatorError('Stopped.'));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const line = progressLine();
  let snapshot: SourceSnapshot | undefined;
  try {
    snapshot = await openSource({
      address,
      ...(ref === undefined ? {} : { ref }),
      quarantine: quarantineFolder(dataDir),
      limits: installLimits,
      signal: stopping.signal,
      progress: line.show,
      env: process.env,
    });
    line.end();
    return await use(snapshot);
  } finally {
    line.end();
    snapshot?.close();
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  }
}
