import { isReachable, modelAddress } from '../../agent/models/model-place.ts';
import { probeAbilities, probeModel, type Ability, type ModelProbe } from '../../agent/models/probe-model.ts';
import { probeSlack } from '../../channels/slack/probe-slack.ts';
import { takesReactions } from '../../channels/slack/slack-options.ts';
import { probeTelegram } from '../../channels/telegram/probe-telegram.ts';
import { proxyVariables } from '../../config/way-out.ts';
import { slackUserGroups } from '../../config/people-groups.ts';
import type { Config } from '../../config/complete-config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { proxiesOf, proxyForUrl } from '../../lib/net/proxy-for.ts';
import { tryServers } from './check-servers.ts';
import { check, type Check, type Found } from './finding.ts';

/** How many milliseconds the clock may be off. Beyond that Slack may refuse signed requests. */
const mostSkewMs = 60_000;

/** Asks the platforms, the model and the MCP servers at the same time. `owners` are qualified ids. */
export async function checkOnline(
  config: Config,
  owners: readonly string[],
  log: Log,
): Promise<readonly Check[]> {
  const checks = await Promise.all([
    checkNetwork(config),
    checkTelegram(config, owners),
    checkSlack(config),
    checkModel(config, log),
    tryServers(config, log),
  ]);
  return checks.filter((one) => one !== undefined);
}

/** Says how each service is reached, directly or through a proxy. */
async function checkNetwork(config: Config): Promise<Check> {
  const { telegram, slack, models, network } = config;
  const model = models.aliases['default'];
  const proxies = proxiesOf({ ...process.env, ...proxyVariables(config.network) });
  const git = config.skills.sources.flatMap(({ repo, url }) =>
    repo !== undefined || url !== undefined
      ? [[`skills of ${repo ?? url}`, url ?? 'https://github.com'] as const]
      : [],
  );
  const services: readonly (readonly [string, string | undefined])[] = [
    ['telegram', telegram.token && (telegram.apiRoot ?? 'https://api.telegram.org')],
    ['slack', slack.botToken && (slack.apiUrl ?? 'https://slack.com')],
    ['model', model === undefined ? undefined : modelAddress(model)],
    ...Object.entries(config.mcp).map(([name, { url }]) => [`mcp ${name}`, url] as const),
    ...git.filter(([, address]) => address.startsWith('http')),
    ['web', 'https://example.com'],
  ];
  const ways = services.flatMap(([name, address]) => {
    if (address === undefined || address === '') return [];
    const proxy = proxyForUrl(new URL(address), proxies);
    return [`${name} ${proxy === undefined ? 'directly' : `by proxy ${proxy.host}`}`];
  });
  const bySsh = git.filter(([, address]) => !address.startsWith('http')).map(([name]) => `${name} directly`);
  const trusted = network.caFile === undefined ? [] : [`trusts [network] ca_file ${network.caFile}`];
  return check('network', [...ways, ...bySsh, ...trusted].join(', '));
}

async function checkTelegram({ telegram }: Config, owners: readonly string[]): Promise<Check | undefined> {
  const { token, apiRoot, mode, webhookUrl } = telegram;
  if (token === undefined) return undefined;
  const here = owners.filter((owner) => owner.startsWith('telegram:'));
  const probe = await probeTelegram({ token, apiRoot }, here);
  if (!probe.ok) {
    const code = probe.refused ? 'TELEGRAM_REFUSED' : 'TELEGRAM_UNREACHABLE';
    return check('telegram', 'failed', [{ level: 'error', code, message: probe.message }]);
  }
  const { username, webhook, hearsGroups, strangers } = probe;
  const wanted = mode === 'webhook' ? webhookUrl : undefined;
  const found: readonly (Found | false)[] = [
    !hearsGroups && {
      level: 'note',
      code: 'TELEGRAM_PRIVACY',
      message: `privacy mode of @${username} is on`,
    },
    webhook !== undefined &&
      webhook.url !== wanted && {
        level: 'warning',
        code: 'TELEGRAM_WEBHOOK',
        message: `Telegram delivers to another address: ${new URL(webhook.url).host}`,
      },
    webhook?.url === wanted &&
      webhook?.trouble !== undefined && {
        level: 'warning',
        code: 'TELEGRAM_WEBHOOK',
        message: `Telegram could not deliver: ${webhook.trouble}`,
      },
    ...strangers.map((owner): Found => ({
      level: 'warning',
      code: 'OWNER_UNREACHABLE',
      message: `${owner} is an owner and never wrote to @${username}`,
    })),
  ];
  return check(
    'telegram',
    `@${username}`,
    found.filter((one) => one !== false),
  );
}

async function checkSlack(config: Config): Promise<Check | undefined> {
  const { botToken, appToken, apiUrl, mode, agentView, reaction } = config.slack;
  if (botToken === undefined) return undefined;
  const probe = await probeSlack({
    botToken,
    appToken: mode === 'socket' ? appToken : undefined,
    apiUrl,
    features: {
      agentView,
      reaction: reaction !== '',
      ratings: takesReactions(config.bot.feedback, agentView),
      userGroups: slackUserGroups(config).length > 0,
    },
  });
  if (!probe.ok) {
    const code = probe.refused ? 'SLACK_REFUSED' : 'SLACK_UNREACHABLE';
    const message = `slack.${probe.token}: ${probe.message}`;
    return check('slack', 'failed', [{ level: 'error', code, message }]);
  }
  const { team, user, missing, at } = probe;
  const skew = at === undefined ? 0 : Math.abs(systemClock.now() - at);
  const lost = missing.map(({ scope, why }) => `${scope} (${why})`).join(', ');
  const found: readonly (Found | false)[] = [
    missing.length > 0 && { level: 'warning', code: 'SLACK_SCOPES', message: `the app lacks ${lost}` },
    skew > mostSkewMs && {
      level: 'error',
      code: 'CLOCK_WRONG',
      message: `the clock is ${Math.round(skew / 1_000)} s away from Slack’s`,
    },
  ];
  return check(
    'slack',
    `@${user} in ${team}`,
    found.filter((one) => one !== false),
  );
}

async function checkModel({ models, agent }: Config, log: Log): Promise<Check | undefined> {
  const settings = models.aliases['default'];
  if (settings === undefined) return undefined;
  if (!isReachable(settings)) return undefined;
  const probe = await probeModel(models, { name: agent.model, clock: systemClock, log });
  if (probe.ok) return check('model', `${probe.model} answered in ${(probe.ms / 1_000).toFixed(1)} s`);
  return check('model', 'failed', [failed(agent.model, probe)]);
}

function failed(name: string, { message, fix }: Extract<ModelProbe, { ok: false }>): Found {
  return { level: 'error', code: 'MODEL_FAILED', message: `model ${name}: ${message}`, fix };
}

/** Asks each alias that can be asked for words, a stream, a tool call and a picture (M17). */
export async function checkAbilities({ models }: Config, log: Log): Promise<readonly Check[]> {
  const aliases = Object.entries(models.aliases).filter(([, settings]) => isReachable(settings));
  return Promise.all(
    aliases.map(async ([name, { model }]) => {
      const probe = await probeModel(models, { name, clock: systemClock, log });
      const title = `model ${name}`;
      if (!probe.ok) return check(title, 'failed', [failed(name, probe)]);
      const abilities = await probeAbilities(models, { name, clock: systemClock, log });
      const can = abilities.filter(({ lacks }) => lacks === undefined).map((one) => one.name);
      const lacking = abilities.flatMap((one): readonly Found[] =>
        one.lacks === undefined ? [] : [lack(name, one.name, one.lacks)],
      );
      return check(title, `${model}: ${['text', ...can].join(', ')}`, lacking);
    }),
  );
}

function lack(alias: string, ability: Ability['name'], why: string): Found {
  const level = ability === 'tool call' ? 'warning' : 'note';
  return { level, code: 'MODEL_LACKS', message: `model ${alias} has no ${ability}: ${why}` };
}
