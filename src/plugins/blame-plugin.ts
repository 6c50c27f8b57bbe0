import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Log } from '../lib/log.ts';
import type { PluginAddress } from './find-plugin.ts';

/**
 * Says in the log which plugin it was, where one throws outside of any call and so ends this process (X6). Gives what ends
 * that. It goes by the file where the error was made: what is thrown without one, or by what the plugin uses, is nobody's.
 */
export function blamePlugin(plugins: readonly PluginAddress[], log: Pick<Log, 'error'>): () => void {
  const tell = (error: unknown): void => {
    const stack = error instanceof Error ? String(error.stack) : '';
    const guilty = plugins.map((plugin) => whereOf(plugin, stack)).find((place) => place !== undefined);
    if (guilty === undefined) return;
    log.error(
      { code: 'PLUGIN_CRASHED', path: guilty.file },
      `the plugin ${guilty.plugin} threw outside of any call, which ends the bot: await its promises and catch its errors there; enabled = false starts the bot without it`,
    );
  };
  process.on('uncaughtExceptionMonitor', tell);
  return () => process.removeListener('uncaughtExceptionMonitor', tell);
}

/** The first line of a stack that lies in a plugin's folder. */
function whereOf(
  { path: at, package: name }: PluginAddress,
  stack: string,
): Readonly<{ plugin: string; file: string }> | undefined {
  const plugin = at ?? name ?? '';
  const part = at === undefined ? `/node_modules/${plugin}/` : pathToFileURL(folderOf(at)).href;
  const line = stack.split('\n').find((one) => one.includes(part));
  const file = /file:\/\/[^\s)]+?:\d+/.exec(line ?? '')?.[0];
  return file === undefined ? undefined : { plugin, file };
}

function folderOf(at: string): string {
  return path.extname(at) === '' ? `${at}${path.sep}` : at;
}
