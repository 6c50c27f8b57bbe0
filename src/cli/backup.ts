import { statSync } from 'node:fs';
import path from 'node:path';
import { askBot } from './ask-bot.ts';
import type { ReadOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `backup FILE`: a consistent copy of the store, while the bot runs or not (Q10); how far it is stands on standard error (L9). */
export async function backup(file: string, { config, json }: ReadOptions): Promise<void> {
  const target = path.resolve(file);
  const onTerminal = process.stderr.isTTY;
  let shown = -1;
  await askBot(config, 'backup', target, (done, total) => {
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    // A log is told every tenth part.
    if (percent === shown || (!onTerminal && percent < 100 && percent - shown < 10)) return;
    shown = percent;
    process.stderr.write(onTerminal ? `\r${percent} %` : `${percent} %\n`);
  });
  if (onTerminal && shown >= 0) process.stderr.write('\n');
  const { size } = statSync(target);
  if (json === true) return printJson({ file: target, bytes: size });
  print(
    `${target} is written (${Math.ceil(size / 1024)} KB). To restore it, stop the bot, remove the store's file with its -wal and -shm, and put the copy in its place.`,
  );
}
