import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/complete-config.ts';

/** Of the keys that an edit changed those that are read once, at start (G3). */
export function needRestart(
  changed: readonly string[],
  before: Pick<Config, 'plugins'>,
  now: Pick<Config, 'plugins'>,
): readonly string[] {
  return changed.filter((key) => (key === 'plugins' ? loadsMore(before, now) : readOnce.test(key)));
}

const readOnce =
  /^(bot\.(data_dir|workspace)|telegram\.|slack\.(?!allow_external)|agent\.concurrency|skills\.(user_dir|bundled|strict)|sandbox\.|store\.|server\.|log\.)/;

/** What is loaded stays so; whom its tools are for, and whether there are any, is read anew each time (X1). */
function loadsMore(before: Pick<Config, 'plugins'>, now: Pick<Config, 'plugins'>): boolean {
  const old = before.plugins.filter(({ enabled }) => enabled).map(asLoaded);
  return now.plugins
    .filter(({ enabled }) => enabled)
    .some((entry) => !old.some((one) => isDeepStrictEqual(one, asLoaded(entry))));
}

function asLoaded({ path, package: name, config }: Config['plugins'][number]) {
  return { path, name, config };
}
