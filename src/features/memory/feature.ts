import type { App, Desk } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import type { FeatureKit } from '../kit.ts';
import { memoryToolRows } from './memory-tools.ts';
import { recallRows } from './recall.ts';
import { memoryOperations } from './operations.ts';
import { memorySwitch } from './open-memory.ts';
import { createShowMemory, memoryPrefix } from './show-memory.ts';
import { createTurnMemory } from './turn-memory.ts';

/** Notes about people and chats (K1-K6). */
export const memory = {
  create: createMemory,
  tools: { ...memoryToolRows, ...recallRows },
  commands: {
    memory: {
      menu: fixed`What I have noted here`,
      alone: true,
      help: (write, say) => say`${write('memory')} lists what I have noted, with buttons to remove it`,
    },
  },
  atRest: (desk: Desk) => ({ operations: memoryOperations(desk) }),
} satisfies FeatureKit;

export function createMemory(app: App): Feature {
  const config = () => app.runtime().config;
  const view = createShowMemory(app);
  const turns = createTurnMemory({ ...app, botName: () => config().bot.name });
  return {
    name: 'memory',
    ...memory.atRest(app),
    withoutUse: () => (config().memory.enabled ? [] : Object.keys(memory.tools)),
    settings: () => (config().memory.enabled ? [memorySwitch] : []),
    turn: turns.turn,
    async run({ requester, transcript, named }) {
      const tools = named === undefined ? [] : await turns.runTools(requester, transcript);
      return tools.filter(({ name }) => named?.includes(name));
    },
    commands: {
      async memory(message) {
        const { text, buttons } = await view.show(message);
        return { text, more: { buttons } };
      },
    },
    presses: {
      async [memoryPrefix]({ press }, [id = '']) {
        const changed = await view.press(press, id);
        return changed ?? { told: sayIn(press.sender.language)`You can’t remove this note, or it is gone.` };
      },
    },
  };
}
