import type { Feature } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import { memoryPrefix, type ShowMemory } from '../../memory/show-memory.ts';
import type { MemoryOfTurns } from '../../memory/turn-memory.ts';

/** Notes about people and chats (K1-K6). */
export function memoryFeature(deps: { memory: ShowMemory; turns: Pick<MemoryOfTurns, 'turn'> }): Feature {
  const { memory, turns } = deps;
  return {
    name: 'memory',
    turn: turns.turn,
    commands: {
      async memory(message) {
        const { text, buttons } = await memory.show(message);
        return { text, more: { buttons } };
      },
    },
    presses: {
      async [memoryPrefix]({ press }, [id = '']) {
        const view = await memory.press(press, id);
        return view ?? { told: sayIn(press.sender.language)`You can’t remove this note, or it is gone.` };
      },
    },
  };
}
