import type { Shared } from '../command.ts';

/** Every step of the wizard, by a flag. A secret may be `$NAME`: then the environment has it, and no file. */
export type WizardFlags = Shared &
  Readonly<{
    yes?: boolean;
    replace?: boolean;
    offline?: boolean;
    name?: string;
    model?: string;
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
    /** Seconds. */
    wait?: number;
  }>;
