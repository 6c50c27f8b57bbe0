import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { fixed } from '../../core/texts/say.ts';
import { createListTools } from '../../tools/list-tools.ts';
import type { FeatureKit, Opened } from '../kit.ts';

/** `/tools`: what the bot and its skills can use here. */
export const toolList = {
  create: createToolList,
  commands: {
    tools: {
      menu: fixed`What I and my skills can use here`,
      alone: true,
      help: (write, say) => say`${write('tools')} lists what I and my skills can use here`,
    },
  },
} satisfies FeatureKit;

function createToolList(app: App, { features }: Opened): Feature {
  const listTools = createListTools({ ...app, sandbox: app.skillSandbox.sandbox, features });
  return {
    name: 'tool list',
    commands: { tools: async (message) => ({ text: await listTools(message) }) },
  };
}
