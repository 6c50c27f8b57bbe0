import type { Config } from '../../config/complete-config.ts';
import type { ConfigProblem } from '../../config/config-problem.ts';
import { envFileOf } from '../../config/load-config.ts';
import type { Diagnostic } from '../../core/codes.ts';
import type { Log } from '../../lib/log.ts';
import type { ServerState } from '../../core/server-state.ts';
import type { Readiness } from '../health/open-metrics.ts';
import type { Registry } from '../../skills/registry.ts';
import { claimedOwners } from '../../access/users.ts';
import { checkAccess } from './check-access.ts';
import { checkFiles } from './check-files.ts';
import { checkHooks } from './check-hooks.ts';
import { checkClock, checkDisk, checkNode, checkOpenFiles, type Machine } from './check-machine.ts';
import { checkChannels } from './check-owners.ts';
import { checkSkills } from './check-skills.ts';
import { checkStore, lookAtOwnStore } from './check-store.ts';
import { checkServers } from './check-servers.ts';
import { check, type Check, type Found } from './finding.ts';

/** The checks if the config can't be read: without it there is nothing more to look at. */
export function examineBroken(machine: Machine, problems: readonly ConfigProblem[]): readonly Check[] {
  const [first] = problems;
  return [
    checkNode(machine),
    checkClock(machine, []),
    check('config', first?.file ?? 'the config', problems.map(ofProblem)),
  ];
}

const imperative = /^(.*?): ((?:write|did you mean|set|add|remove|keep|name|close|use)\b.*)$/s;

/** Matches a sentence that only says what is written there, and not what is wrong with it. */
const onlyFound = / is (?=(?:"[^"]*"|text .*|an? \w+|-?\d[\d.]*|true|false|the value of \S+)$)/;

/**
 * Splits a problem into what is wrong and what to do. A message has both, as in `telegram.mode is "pull": write
 * "polling" or "webhook"`.
 */
function ofProblem({ file, line, message }: ConfigProblem): Found {
  const [, what = message, fix] = imperative.exec(message) ?? /^(.*?): (.*)$/s.exec(message) ?? [];
  const todo = fix === undefined ? undefined : fix.charAt(0).toUpperCase() + fix.slice(1);
  const title = what.replace(onlyFound, ' cannot be ');
  return { level: 'error', code: 'CONFIG_INVALID', message: title, fix: todo, path: file, line };
}

type Examined = Readonly<{
  config: Config;
  registry: Registry;
  /** What was found before: what `start` refuses, plugins, providers. */
  more: readonly Diagnostic[];
  isRunning: boolean;
  /** MCP servers as the running bot knows them. Undefined if no bot runs. */
  servers?: readonly ServerState[];
  trouble?: Readiness['store'];
  log: Log;
}>;

/** Makes all checks that need no network (L2). Changes nothing. */
export async function examine(
  machine: Machine,
  { config, registry, more, isRunning, servers, trouble, log }: Examined,
): Promise<Readonly<{ checks: readonly Check[]; owners: readonly string[] }>> {
  const { path: file } = config;
  // This starts first, because trying the sandbox in processes of its own takes longest.
  const ofSkills = checkSkills(config, registry, log);
  const store = await lookAtOwnStore(config, isRunning);
  const files = file === undefined ? [] : [file, envFileOf(file)];
  const ofServers = checkServers(servers);
  const checks = [
    checkNode(machine),
    checkClock(machine, files),
    file === undefined
      ? check('config', 'none', [
          {
            level: 'note',
            code: 'CONFIG_MISSING',
            message: 'there is no config file, so every key has its default',
          },
        ])
      : check('config', file),
    await checkFiles(config, more),
    checkDisk(machine, config),
    ...checkOpenFiles(machine),
    await checkStore(config, store, trouble),
    checkChannels(config, store, log),
    checkAccess(config, registry.skills),
    ...(config.hooks.length === 0 ? [] : [checkHooks(config, store)]),
    ...(await ofSkills),
    ...(ofServers === undefined ? [] : [ofServers]),
  ];
  const claimed = 'keys' in store ? claimedOwners(store.keys) : [];
  return { checks, owners: [...new Set([...config.bot.owner, ...claimed])] };
}
