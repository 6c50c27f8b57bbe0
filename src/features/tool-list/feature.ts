import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { createListTools } from '../../tools/list-tools.ts';

/** `/tools`: what the bot and its skills can use here. */
export const toolList = { create: createToolList };

function createToolList(app: App): Feature {
  const listTools = createListTools({ ...app, sandbox: app.skillSandbox.sandbox });
  return {
    name: 'tool list',
    commands: { tools: async (message) => ({ text: await listTools(message) }) },
  };
}
