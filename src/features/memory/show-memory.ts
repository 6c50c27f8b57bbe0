import type { Button, Press } from '../../core/channel.ts';
import type { Memory } from '../../core/memory.ts';
import type { Actor } from '../../core/message.ts';
import { sayOrigin } from '../../core/provenance.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { escapeMarkdown } from '../../lib/markdown/write-markdown.ts';
import { decideMemory } from './decide-memory.ts';
import { forgetMemory } from './memory-tools.ts';
import { managesMemory, openMemory, type MemoryDeps, type OpenMemory } from './open-memory.ts';

export type MemoryView = Readonly<{ text: string; buttons: readonly Button[] }>;

/** Answers the command `/memory` and the buttons below its list (K3). */
export type ShowMemory = Readonly<{
  show(message: Actor & Readonly<{ ephemeral?: true }>): Promise<MemoryView>;
  /** Removes a note by its button. Undefined if this person may not, or the note is gone. */
  press(pressed: Press, id: string): Promise<MemoryView | undefined>;
}>;

/** The actions of buttons that remove a note begin with this. */
export const memoryPrefix = 'memory';
const mostShown = 20;

export function createShowMemory(deps: MemoryDeps): ShowMemory {
  const show: ShowMemory['show'] = async (asker) => {
    const say = sayIn(asker.sender.language);
    const open = await openMemory(asker, deps);
    if (open === undefined) return { text: say`Memory is off here.`, buttons: [] };
    return viewOf(await open.visible(mostShown), await removableIn(open, deps), say);
  };
  return {
    show,
    async press(pressed, id) {
      const open = await openMemory(pressed, deps);
      if (open === undefined) return undefined;
      const { conversation, chatType, external, sender } = pressed;
      const requester = { conversation, chatType, external, sender: sender.id, kind: sender.kind };
      return (await forgetMemory(id, requester, open, deps)) === undefined ? undefined : show(pressed);
    },
  };
}

async function removableIn({ use }: OpenMemory, deps: MemoryDeps): Promise<(memory: Memory) => boolean> {
  const manages = await managesMemory(use.sender, deps);
  return (memory) => decideMemory(memory, { ...use, what: 'forget', manages }).allowed;
}

function viewOf(memories: readonly Memory[], mayRemove: (memory: Memory) => boolean, say: Say): MemoryView {
  if (memories.length === 0)
    return { text: say`I have no notes here. Ask me to remember something.`, buttons: [] };
  const lines = memories.map(({ id, text, scope, at, from }, index) => {
    const day = new Date(at).toISOString().slice(0, 10);
    const whose = { person: say`for you alone`, chat: say`for this chat`, team: say`for everybody` }[scope];
    const origin = sayOrigin(from, say);
    const more = origin === undefined ? '' : `. ${say`From: ${origin}`}`;
    return `${index + 1}. ${escapeMarkdown(text)} (${whose}, ${day}, \`${id}\`)${more}`;
  });
  return {
    text: [say`What I have noted:`, '', ...lines].join('\n'),
    buttons: memories.flatMap((memory, index) =>
      mayRemove(memory)
        ? [{ label: `🗑 ${say`Remove ${index + 1}`}`, action: `${memoryPrefix}:${memory.id}` }]
        : [],
    ),
  };
}
