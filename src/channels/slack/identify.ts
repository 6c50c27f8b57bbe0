import { z } from 'zod';
import { slackErrorCode, tokenErrors, type CallSlack } from './slack-error.ts';
import type { SlackIdentity } from './slack-options.ts';
import { createTroubleLog } from '../trouble-log.ts';
import { fixed, type Fixed } from '../../core/texts/say.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** The scopes that the app needs, with what fails without each (H13). docs/how-to/slack-app.md has the same table. */
export const neededScopes: ReadonlyMap<string, Fixed> = new Map([
  ['app_mentions:read', fixed`mentions in channels`],
  ['assistant:write', fixed`suggestions in direct messages`],
  ['channels:history', fixed`threads in public channels without a mention`],
  ['channels:read', fixed`kind and name of public channels, invitations to them`],
  ['chat:write', fixed`every answer`],
  ['commands', fixed`the slash command`],
  ['files:read', fixed`reading files that people send`],
  ['files:write', fixed`sending files`],
  ['groups:history', fixed`threads in private channels without a mention`],
  ['groups:read', fixed`kind and name of private channels, invitations to them`],
  ['im:history', fixed`direct messages`],
  ['im:read', fixed`the slash command and buttons in direct messages`],
  ['mpim:history', fixed`threads in group direct messages without a mention`],
  ['mpim:read', fixed`group direct messages`],
  ['reactions:read', fixed`thumbs under answers`],
  [
    'reactions:write',
    fixed`the reaction on a message that will be answered, or on one at work in a direct message`,
  ],
  ['usergroups:read', fixed`user groups in lists of people`],
  ['users:read', fixed`names and languages of people`],
]);

/** The features that are in use. Scopes of the others are not needed. */
export type SlackFeatures = Readonly<{
  agentView: boolean;
  reaction: boolean;
  /** Whether people rate answers by reactions (U17). */
  ratings: boolean;
  userGroups: boolean;
}>;

/** Which scopes a token lacks, given the features in use. */
export function missedScopes(scopes: readonly string[], features: SlackFeatures): readonly string[] {
  const unused = new Set([
    ...(features.userGroups ? [] : ['usergroups:read']),
    ...(features.reaction ? [] : ['reactions:write']),
    ...(features.ratings ? [] : ['reactions:read']),
    ...(features.agentView ? [] : ['assistant:write']),
  ]);
  return [...neededScopes.keys()].filter((scope) => !scopes.includes(scope) && !unused.has(scope));
}

/** Asks Slack who the bot is, with retries. Throws OperatorError if the token can never work. */
export async function identify(
  call: CallSlack,
  command: string,
  log: Log,
  clock: Clock,
): Promise<SlackIdentity> {
  const auth = authTest.parse(await authenticate(call, log, clock));
  const scopes = auth.response_metadata?.scopes;
  const appId = auth.app_id || (auth.bot_id ? await appOf(call, auth.bot_id, log) : undefined);
  return {
    team: auth.team_id,
    user: auth.user_id,
    name: auth.user || undefined,
    botId: auth.bot_id || undefined,
    appId,
    url: auth.url,
    scopes: scopes ?? undefined,
    command,
  };
}

const authTest = z.object({
  url: z
    .url({ protocol: /^https$/ })
    .optional()
    .catch(undefined),
  team_id: z.string().min(1),
  user_id: z.string().min(1),
  user: z.string().nullish(),
  bot_id: z.string().nullish(),
  app_id: z.string().nullish(),
  /** The SDK reads them from a header. */
  response_metadata: z
    .object({ scopes: z.array(z.string()).nullish() })
    .nullish()
    .catch(undefined),
});

async function authenticate(call: CallSlack, log: Log, clock: Clock): Promise<unknown> {
  const trouble = createTroubleLog(log);
  for (let tries = 0; ; tries++) {
    try {
      return await call('auth.test', {});
    } catch (error) {
      const code = slackErrorCode(error);
      if (code !== undefined && tokenErrors.includes(code)) throw badBotToken(code, error);
      trouble.failed(error, { code }, 'Slack not reached: trying again');
      await clock.sleep(Math.min(30_000, 1000 * 2 ** Math.min(tries, 5)));
    }
  }
}

function badBotToken(code: string, cause: unknown): OperatorError {
  return new OperatorError(
    `Slack refused the bot token (${code}). Set [slack] bot_token to the Bot User OAuth Token (xoxb-…): ` +
      'api.slack.com/apps, OAuth & Permissions; install the app to the workspace again if it was removed',
    { cause },
  );
}

const botsInfo = z.object({ bot: z.object({ app_id: z.string().min(1) }) });

async function appOf(call: CallSlack, bot: string, log: Log): Promise<string | undefined> {
  try {
    return botsInfo.parse(await call('bots.info', { bot })).bot.app_id;
  } catch (error) {
    log.debug({ err: error }, 'Slack app id not found out');
    return undefined;
  }
}
