import type { ChatType } from '../core/conversation.ts';

/** Options of commands that read: `--config` and `--json`. */
export type ReadOptions = Readonly<{ config?: string; json?: boolean }>;

/** Options of `chat`. */
export type ChatOptions = Readonly<{ config?: string; once?: string; as: ChatType; user?: string }>;

/** Options of `forget`. */
export type ForgetOptions = ReadOptions & Readonly<{ yes?: boolean }>;

/** Options of `skill add`. */
export type AddOptions = ReadOptions & Readonly<{ ref?: string; yes?: boolean; name?: readonly string[] }>;
