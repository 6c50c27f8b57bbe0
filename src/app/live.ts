import type { Models } from '../agent/create-models.ts';
import { accessSettings, skillRules } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import type { AccessSettings, SkillRules } from '../core/access-settings.ts';
import { createRedactor, type Secret } from '../core/redact.ts';

/** Everything that a saved edit changes at once (G3): made whole from one config, read anew at each use. */
export type Live = Readonly<{
  config: Config;
  access: AccessSettings;
  rules: SkillRules;
  models: Models;
  redact(text: string): string;
}>;

/**
 * Builds what follows from a config. `change` has the last word on access: for the terminal's own rules. `more` gives the
 * secrets that people set (the same list while nothing was added): they count at once.
 */
export function makeLive(
  config: Config,
  makeModels: (config: Config) => Models,
  change: (access: AccessSettings) => AccessSettings = (access) => access,
  more: () => readonly Secret[] = () => none,
): Live {
  return {
    config,
    access: change(accessSettings(config)),
    rules: skillRules(config),
    models: makeModels(config),
    redact: redactor(secretsOfConfig(config), more),
  };
}

const none: readonly Secret[] = [];

function redactor(own: readonly Secret[], more: () => readonly Secret[]): (text: string) => string {
  const make = (of: readonly Secret[]) => ({ of, redact: createRedactor([...own, ...of]) });
  let made = make(more());
  return (text) => {
    const of = more();
    if (of !== made.of) made = make(of);
    return made.redact(text);
  };
}
