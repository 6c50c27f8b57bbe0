import { isDeepStrictEqual } from 'node:util';
import type { Audit } from '../audit/create-audit.ts';
import { changedKeys, type Config } from '../config/complete-config.ts';
import { formatKeyPath } from '../config/section.ts';
import { fixed, type Words } from '../core/texts/say.ts';
import { isGrave } from '../config/lost-keys.ts';
import { inlineCode } from '../lib/text/text.ts';
import { placeInFile, type ConfigProblem } from '../config/config-problem.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Replies } from '../replies/replies.ts';
import { featureChecks } from '../features/list.ts';

const readOnce =
  /^(bot\.(data_dir|workspace|feedback)|telegram\.|slack\.(?!allow_external)|agent\.concurrency|skills\.(user_dir|agents_dir|bundled|strict)|sandbox\.|store\.|network\.|server\.|log\.)/;

/** Applies a saved config, or tells the owners what is wrong with it (G3). */
export function createReconfigure(options: {
  config(): Config;
  apply(config: Config): void;
  replies: Replies;
  audit: Audit;
  clock: Clock;
  log: Log;
}): (outcome: ParsedConfig, lost?: readonly string[]) => void {
  const { config, apply, replies, audit, clock, log } = options;
  const tell = ({ key, words }: Notice): void => {
    replies
      .tellOwners(key, words)
      .catch((error: unknown) => log.error({ err: error }, 'could not notify the owners'));
  };

  const started = config();
  let wasRefused = false;

  return (read, lost = []) => {
    const outcome = withoutUnusable(read, log);
    if (!outcome.ok) {
      log.error(
        { problems: outcome.problems },
        'the saved config is not valid; the one before stays in force',
      );
      wasRefused = true;
      tell(configNotice(outcome.problems, clock.now()));
      return;
    }
    const changed = changedKeys(config(), outcome.config);
    // A key that is as it was at the start again needs no restart.
    const differing = changedKeys(started, outcome.config);
    const later = needRestart(
      changed.filter((key) => differing.includes(key)),
      started,
      outcome.config,
    );
    log.info(
      { changed, needsRestart: later },
      later.length === 0 ? 'the config was changed' : 'the config was changed; some of it needs a restart',
    );
    void audit.record({ event: 'config_changed', keys: changed });
    apply(outcome.config);
    const at = clock.now();
    if (wasRefused) tell({ key: `config-valid:${at}`, words: validAgain });
    wasRefused = false;
    if (later.length > 0) tell(restartNotice(later, at));
    const grave = lost.filter(isGrave);
    if (grave.length > 0) tell(lossNotice(grave, at));
  };
}

/** Refuses at a reload what a start would refuse, too (N2). */
function withoutUnusable(read: ParsedConfig, log: Log): ParsedConfig {
  if (!read.ok) return read;
  const placeOf = placeInFile(read.config.path);
  const found = featureChecks(read.config);
  for (const { level, message } of found) if (level === 'warning') log.warn({}, message);
  const problems = found.flatMap(({ level, key, message }) =>
    level === 'error' ? [{ file: read.config.path, ...placeOf(key), key: formatKeyPath(key), message }] : [],
  );
  return problems.length === 0 ? read : { ok: false, problems };
}

type Notice = Readonly<{ key: string; words: Words }>;

const validAgain = fixed`The saved \`config.toml\` is valid again, and I use it.`;

function restartNotice(keys: readonly string[], at: number): Notice {
  const changed = keys.map(inlineCode).join(', ');
  return {
    key: `config-restart:${at}`,
    words: (say) => say`Please restart me to use what you changed in \`config.toml\`: ${changed}.`,
  };
}

function lossNotice(keys: readonly string[], at: number): Notice {
  const lost = keys.map(inlineCode).join(', ');
  return {
    key: `config-lost:${at}`,
    words: (say) =>
      say`My saved \`config.toml\` no longer has ${lost}. I use it as it is. If you did not mean that, save the whole file again.`,
  };
}

function configNotice(problems: readonly ConfigProblem[], at: number): Notice {
  return {
    key: `config:${at}`,
    words: (say) => {
      const lines = problems.map(({ message, line }) =>
        line === undefined ? `- ${message}` : `- ${say`line ${line}`}: ${message}`,
      );
      return `${say`The saved \`config.toml\` is not valid, so nothing changed:`}\n\n${lines.join('\n')}`;
    },
  };
}

/** Changed keys that are read only at the start (G3). */
function needRestart(changed: readonly string[], before: Config, now: Config): readonly string[] {
  return changed.filter((key) => (key === 'plugins' ? loadsMore(before, now) : readOnce.test(key)));
}

/** Whether plugins have to be loaded. Their access and `enabled` are read each time, so they need no restart (X1). */
function loadsMore(before: Config, now: Config): boolean {
  const old = before.plugins.filter(({ enabled }) => enabled).map(asLoaded);
  return now.plugins
    .filter(({ enabled }) => enabled)
    .some((entry) => !old.some((one) => isDeepStrictEqual(one, asLoaded(entry))));
}

function asLoaded({ path, package: name, config }: Config['plugins'][number]) {
  return { path, name, config };
}
