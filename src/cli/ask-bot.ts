import type { Asked, OperationName, OutputOf } from '../operator/operations.ts';

/**
 * Does an operation in the running bot, or on the store itself if none runs (Q9). `flag` is the value of `--config`.
 */
export async function askBot<Name extends OperationName>(
  flag: string | undefined,
  name: Name,
  ...asked: Asked<Name>
): Promise<OutputOf<Name>> {
  const [{ askControl, controlPath }, { openOperatorConfig, openStoreConfig }] = await Promise.all([
    import('../channels/terminal/control.ts'),
    import('./open-config.ts'),
  ]);
  const { bot } = await openOperatorConfig(flag);
  const answer = await askControl(controlPath(bot.dataDir), name, ...asked);
  // The types are right, because a running bot of this version has the same operations.
  if (answer !== undefined) return answer.data as OutputOf<Name>;
  const config = await openStoreConfig(flag);
  const [{ openOperate }, { openLog }] = await Promise.all([
    import('../operator/operate.ts'),
    import('./open-log.ts'),
  ]);
  const { operate, close } = openOperate(config, openLog(config, 'warn').log);
  try {
    return await operate(name, ...asked);
  } finally {
    await close();
  }
}
