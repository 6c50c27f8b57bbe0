import type { AccessLevel, AccessSettings, SkillRules } from '../core/access-settings.ts';
import type { Models } from '../core/model.ts';
import { createRedaction, type Redaction, type Secret } from '../lib/redaction/redact.ts';
import type { Config } from './complete-config.ts';
import { secretsOfConfig, secretsOfProxies } from './secrets-of-config.ts';

/** All that an edit of the config changes at once (G3). It is built as a whole and read at each use. */
export type RuntimeConfig = Readonly<{
  config: Config;
  access: AccessSettings;
  rules: SkillRules;
  /** Models whose requests and answers are both redacted. */
  models: Models;
  redaction: Redaction;
  /** Removes secrets from a text; the same as `redaction.text`. */
  redact(text: string): string;
}>;

/**
 * Builds what follows from a config. `change` adapts the access rules for the terminal. `more` returns secrets that
 * people set, as the same list until one is added. `env` is the environment of the process.
 */
export function createRuntimeConfig(
  config: Config,
  makeModels: (config: Config, redaction: Redaction) => Models,
  change: (access: AccessSettings) => AccessSettings = (access) => access,
  more: () => readonly Secret[] = () => none,
  env: Readonly<Record<string, string | undefined>> = {},
): RuntimeConfig {
  const redaction = redactionOf([...secretsOfConfig(config), ...secretsOfProxies(env)], more);
  return {
    config,
    access: change(accessSettings(config)),
    rules: skillRules(config),
    models: makeModels(config, redaction),
    redaction,
    redact: redaction.text,
  };
}

const none: readonly Secret[] = [];

function redactionOf(own: readonly Secret[], more: () => readonly Secret[]): Redaction {
  const make = (of: readonly Secret[]) => ({ of, redaction: createRedaction([...own, ...of]) });
  let made = make(more());
  const now = (): Redaction => {
    const of = more();
    if (of !== made.of) made = make(of);
    return made.redaction;
  };
  return {
    text: (text) => now().text(text),
    constant: (value) => now().constant(value),
    textInParts: () => now().textInParts(),
    bytesInParts: () => now().bytesInParts(),
  };
}

export function accessSettings({ bot, access, slack }: Config): AccessSettings {
  const { telegram: ofTelegram, slack: ofSlack, chats, ...general } = access;
  const channels: readonly (readonly [string, AccessLevel | undefined])[] = [
    ['telegram', ofTelegram],
    ['slack', ofSlack],
  ];
  return {
    owners: bot.owner,
    general,
    channels: new Map(channels.flatMap(([name, level]) => (level === undefined ? [] : [[name, level]]))),
    chats: new Map(Object.entries(chats)),
    allowExternal: slack.allowExternal,
  };
}

export function skillRules({ skills }: Config): SkillRules {
  return {
    enabled: skills.enabled,
    defaults: skills.defaults,
    skills: new Map(Object.entries(skills.byName)),
  };
}
