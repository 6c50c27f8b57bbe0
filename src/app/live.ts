import type { Models } from '../agent/create-models.ts';
import { accessSettings, skillRules } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import type { AccessSettings, SkillRules } from '../core/access-settings.ts';
import { createRedactor } from '../core/redact.ts';

/** Everything that a saved edit changes at once (G3): made whole from one config, read anew at each use. */
export type Live = Readonly<{
  config: Config;
  access: AccessSettings;
  rules: SkillRules;
  models: Models;
  redact(text: string): string;
}>;

/** Builds what follows from a config. `change` has the last word on access: for the terminal's own rules. */
export function makeLive(
  config: Config,
  makeModels: (config: Config) => Models,
  change: (access: AccessSettings) => AccessSettings = (access) => access,
): Live {
  return {
    config,
    access: change(accessSettings(config)),
    rules: skillRules(config),
    models: makeModels(config),
    redact: createRedactor(secretsOfConfig(config)),
  };
}
