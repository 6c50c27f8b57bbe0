import type { Conversation } from './conversation.ts';

/**
 * Set if somebody acts for a group from `conversation`, their direct message: what is for them alone goes there. `tell`
 * is the key under which the group reads that it did, once; undefined if it reads nothing.
 */
export type FromDirect = Readonly<{ conversation: Conversation; tell?: string }>;

/**
 * What lets a bot answer one person in a group on platforms that want a reason for it: their ephemeral command or their
 * press. `at` is when they did it, in milliseconds since 1970.
 */
export type PrivateReply = Readonly<{
  kind: 'command' | 'press';
  id: string;
  at: number;
  direct?: FromDirect | undefined;
}>;

/** How a part for one person in a group is delivered (U16). */
export type Privately = Readonly<{
  /** When the person did what this answers, in milliseconds since 1970: they are reading then. */
  at: number;
  reply?: PrivateReply;
  /** Said to everybody instead if it can't be shown to one. Undefined: the part goes to their direct message. */
  neutral?: string;
  /** If it can't be shown to the person alone, it is not said at all. */
  orNothing?: true;
  /** If it goes another way, nobody else reads that it did. */
  quiet?: true;
  /** Language of the sentence that tells where the part went (H14). */
  language?: string;
}>;
