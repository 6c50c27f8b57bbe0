import type { SharedOptions } from '../command.ts';

/**
 * A flag for each step of the wizard. A secret may be `$NAME`: then it stays in the environment and is written to no
 * file.
 */
export type WizardFlags = SharedOptions &
  Readonly<{
    yes?: boolean;
    replace?: boolean;
    offline?: boolean;
    name?: string;
    model?: string;
    api?: string;
    region?: string;
    project?: string;
    'base-url'?: string;
    'api-key'?: string;
    'telegram-token'?: string;
    'telegram-api-root'?: string;
    'slack-bot-token'?: string;
    'slack-app-token'?: string;
    'slack-api-url'?: string;
    owner?: readonly string[];
    'find-owner'?: boolean;
    group?: readonly string[];
    'find-group'?: boolean;
    /** Seconds to wait for the code, and for the bot to be added to a group. */
    wait?: number;
  }>;
