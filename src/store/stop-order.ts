import type { Conversation } from '../core/conversation.ts';

/** What a person stops: inbox items by key, and what is asked in conversations (of one requester where one is named). */
export type StopOrder = Readonly<{
  items: readonly string[];
  asks?: readonly Readonly<{ conversation: Conversation; requester?: string }>[];
}>;

/**
 * What stopping did. Items: `dropped` those that nobody had taken (they are done without an answer), `stopping` those that
 * are marked for whoever works on them or takes them up after a crash; in neither those that waited no more. `cancelled`:
 * ids of asks that were open.
 */
export type Stopped = Readonly<Record<'dropped' | 'stopping' | 'cancelled', readonly string[]>>;
