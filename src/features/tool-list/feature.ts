import type { Feature } from '../../core/feature.ts';
import type { ListTools } from '../../tools/list-tools.ts';

/** `/tools`: what the bot and its skills can use here. */
export function toolListFeature({ listTools }: { listTools: ListTools }): Feature {
  return {
    name: 'tool list',
    commands: { tools: async (message) => ({ text: await listTools(message) }) },
  };
}
