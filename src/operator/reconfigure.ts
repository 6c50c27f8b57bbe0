import { changedKeys } from '../config/changed-keys.ts';
import type { Config } from '../config/complete-config.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Audit } from '../audit/create-audit.ts';
import { configNotice } from './config-notice.ts';
import { needRestart } from './needs-restart.ts';
import type { Voice } from '../replies/replies.ts';

/** Takes a saved config in by `apply`, or reports to the log and the owners what is wrong with it (G3). */
export function createReconfigure(options: {
  config(): Config;
  apply(config: Config): void;
  voice: Pick<Voice, 'tellOwners'>;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  log: Log;
}): (outcome: ParsedConfig) => void {
  const { config, apply, voice, audit, clock, log } = options;

  return (outcome) => {
    if (!outcome.ok) {
      log.error(
        { problems: outcome.problems },
        'the saved config is not valid; the one before stays in force',
      );
      const { key, markdown } = configNotice(outcome.problems, clock.now());
      voice
        .tellOwners(key, markdown)
        .catch((error: unknown) => log.error({ err: error }, 'the owners could not be told'));
      return;
    }
    const before = config();
    const changed = changedKeys(before, outcome.config);
    const later = needRestart(changed, before, outcome.config);
    log.info(
      { changed, needsRestart: later },
      later.length === 0 ? 'the config was changed' : 'the config was changed; some of it needs a restart',
    );
    void audit.record({ event: 'config_changed', keys: changed });
    apply(outcome.config);
  };
}
