import { unwatchFile, watchFile } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { systemClock, type Clock } from '../lib/clock.ts';
import type { Config } from './complete-config.ts';
import { readConfigFile, type ConfigSearch } from './load-config.ts';
import type { ParsedConfig } from './parse-config.ts';

/** The config in force, and the end of watching. */
export type ConfigWatch = Readonly<{ current(): Config; stop(): void }>;

const pollMs = 250;
const settleMs = 80;
const emptied = 'emptied';

/**
 * Watches the file a config came from. A valid edit becomes `current()` whole and is then told to `onChange`, within a
 * second; an invalid one is told, once, and changes nothing (G3). An edit without effect is not told.
 */
export function watchConfig(
  config: Config,
  options: Omit<ConfigSearch, 'flag'> &
    Readonly<{ onChange: (outcome: ParsedConfig) => void; clock?: Clock }>,
): ConfigWatch {
  const { onChange, clock = systemClock, ...surroundings } = options;
  const { path: file } = config;
  let current = config;
  let told: ParsedConfig = { ok: true, config };
  let state: 'idle' | 'checking' | 'again' | 'stopped' = 'idle';
  if (file === undefined) return { current: () => current, stop: () => undefined };

  const check = async (): Promise<void> => {
    if (state !== 'idle') {
      if (state === 'checking') state = 'again';
      return;
    }
    do {
      state = 'checking';
      const before = await settled(file, clock, isStopped);
      // An editor empties a file before it writes: what follows is seen as the next change.
      if (before === emptied) continue;
      const outcome = await readConfigFile({ ...surroundings, file });
      const after = await fingerprint(file);
      if (isStopped()) return;
      if (after !== before) {
        // Saved while it was read: what was read may be an emptied file, which says that all is at its default.
        state = 'again';
        continue;
      }
      if (isDeepStrictEqual(outcome, told)) continue;
      told = outcome;
      if (outcome.ok) current = outcome.config;
      onChange(outcome);
    } while (isWantedAgain());
    if (!isStopped()) state = 'idle';
  };
  const isStopped = (): boolean => state === 'stopped';
  const isWantedAgain = (): boolean => state === 'again';
  const onStat = (): void => void check();

  // By polling: this alone sees editors that replace the file, symlinks that are switched, bind mounts and network disks.
  watchFile(file, { interval: pollMs, persistent: false }, onStat);
  // What was saved between loading and now.
  void check();
  return {
    current: () => current,
    stop() {
      state = 'stopped';
      unwatchFile(file, onStat);
    },
  };
}

/** Resolves with its fingerprint when the file stays the same for a moment, or when nobody waits for it any more. */
async function settled(file: string, clock: Clock, isStopped: () => boolean): Promise<string> {
  let before = await fingerprint(file);
  for (;;) {
    await clock.sleep(settleMs);
    const after = await fingerprint(file);
    if (after === before || isStopped()) return after;
    before = after;
  }
}

async function fingerprint(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs }) => (size === 0 ? emptied : `${ino}:${size}:${mtimeMs}`),
    (error: NodeJS.ErrnoException) => String(error.code),
  );
}
