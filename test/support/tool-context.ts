import type { ToolContext } from '../../src/core/tool.ts';
import { noArtifact } from './no-files.ts';

/** What a tool is handed in a direct message, changed as the test wants it; what it says goes nowhere. */
export function toolContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    requester: {
      conversation: { channel: 'telegram', chat: '42' },
      chatType: 'private',
      external: false,
      sender: 'telegram:42',
      kind: 'person',
    },
    toolUseId: 'toolu_1',
    turn: 'item',
    settings: {},
    signal: new AbortController().signal,
    progress: () => undefined,
    step: () => undefined,
    artifact: noArtifact,
    artifacts: noArtifact,
    settle: () => undefined,
    awaitAnswer: () => undefined,
    waits: (work) => work(),
    addTaint: () => undefined,
    spend: () => undefined,
    ...change,
  };
}

/** Whose turn it is in a group that skills are wanted in. */
export const inAGroup = {
  conversation: { channel: 'telegram', chat: '-1' },
  chatType: 'group',
  external: false,
  sender: 'telegram:42',
  kind: 'person',
} as const;
