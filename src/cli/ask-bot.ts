import { askControl, controlPath, type OnProgress, type Operation } from '../channels/terminal/control.ts';
import { openOperatorConfig, openStoreConfig } from './open-config.ts';
import { openLog } from './open-log.ts';

/** Has an operation carried out: by the running bot, else on the store itself (Q9). */
export async function askBot(
  operation: Operation,
  argument: string,
  flag: string | undefined,
  onProgress?: OnProgress,
): Promise<unknown> {
  const { bot } = await openOperatorConfig(flag);
  const asked = await askControl(controlPath(bot.dataDir), operation, argument, onProgress);
  if (asked !== undefined) return asked.data;
  const config = await openStoreConfig(flag);
  const { openOperate } = await import('../operator/open-operate.ts');
  const { operate, close } = await openOperate(config, openLog(config, 'warn').log);
  try {
    return await operate(operation, argument, onProgress);
  } finally {
    await close();
  }
}
