import type { SeenChatType } from '../core/conversation.ts';
import type { Say } from '../core/texts/say.ts';
import type { Ruling } from './ruling.ts';

/** What access rules decide about a message, and about skills that its sender starts. */
export type Explained = Readonly<{
  message: Ruling;
  skills: readonly Readonly<{
    name: string;
    byPerson: Ruling;
    /** True if programs or packages are missing on this machine. */
    lacks: boolean;
    missingEnv: readonly string[];
  }>[];
}>;

/** Decides as for a real message. `where` is a qualified chat id; undefined means the person's direct message. */
export type ExplainAccess = (
  of: Readonly<{ who: string; where?: string; chatType?: SeenChatType; external?: boolean }>,
  say: Say,
) => Promise<Explained>;
