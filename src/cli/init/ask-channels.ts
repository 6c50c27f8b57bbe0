import { probeSlack } from '../../channels/slack/probe-slack.ts';
import { probeTelegram } from '../../channels/telegram/probe-telegram.ts';
import { OperatorError } from '../../core/errors.ts';
import { slackManifest } from '../slack-manifest.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import type { SlackAnswer, TelegramAnswer } from './answers.ts';
import type { Dialog } from './dialog.ts';
import { takeSecret } from './take-secret.ts';
import type { WizardFlags } from './wizard-flags.ts';

/** Asks for the token of a Telegram bot and tries it at once. Undefined if Telegram is not wanted. */
export async function askTelegram(dialog: Dialog, flags: WizardFlags): Promise<TelegramAnswer | undefined> {
  const { 'telegram-token': flag, 'telegram-api-root': apiRoot } = flags;
  const isMeant = flag !== undefined || !dialog.asks || (await dialog.confirm('Connect Telegram?', true));
  if (!isMeant) return undefined;
  for (let again = false; ; again = true) {
    const token = await takeSecret(dialog, {
      flag,
      variable: 'TELEGRAM_BOT_TOKEN',
      question: 'Bot token (write /newbot to @BotFather)',
      again,
      kind: 'telegram',
    });
    if (token === undefined) return undefined;
    if (flags.offline === true) return { token, apiRoot };
    const probe = await dialog.during('Asking Telegram', () =>
      probeTelegram({ token: token.value, apiRoot }),
    );
    if (probe.ok) {
      dialog.say(`Telegram knows the bot: @${probe.username}.`);
      if (!probe.hearsGroups)
        dialog.say(
          'Its privacy mode is on, so in groups it hears no mentions. To change that, send /setprivacy to @BotFather and choose Disable.',
        );
      return { token, apiRoot, username: probe.username };
    }
    refuse(
      dialog,
      probe.refused
        ? 'Telegram does not know this bot token. Copy it again from @BotFather (/mybots, API Token)'
        : probe.message,
    );
  }
}

/** Asks for both tokens of a Slack app and tries them at once. Undefined if Slack is not wanted. */
export async function askSlack(dialog: Dialog, flags: WizardFlags): Promise<SlackAnswer | undefined> {
  const { 'slack-bot-token': bot, 'slack-app-token': app, 'slack-api-url': apiUrl } = flags;
  const isMeant = bot !== undefined || !dialog.asks || (await dialog.confirm('Connect Slack?', false));
  if (!isMeant) return undefined;
  if (dialog.asks && bot === undefined)
    dialog.say(
      [
        'Make the app: open https://api.slack.com/apps?new_app=1, choose From a manifest and a workspace.',
        `On the tab YAML, put the text of this file in the place of what is there: ${slackManifest().path}`,
        `(A link that fills it in, and is very long: ${skilletHere()} manifest slack --link)`,
        'Then Install to Workspace, and copy the Bot User OAuth Token (OAuth & Permissions).',
        'Under Basic Information, App-Level Tokens, make one with the scope connections:write.',
      ].join('\n'),
    );
  for (let again = false; ; again = true) {
    const botToken = await takeSecret(dialog, {
      flag: bot,
      variable: 'SLACK_BOT_TOKEN',
      question: 'Bot token (xoxb-…)',
      again,
      kind: 'slackBot',
    });
    if (botToken === undefined) return undefined;
    const appToken = await takeSecret(dialog, {
      flag: app,
      variable: 'SLACK_APP_TOKEN',
      question: 'App-level token (xapp-…)',
      again,
      kind: 'slackApp',
    });
    if (appToken === undefined)
      throw new OperatorError('With --slack-bot-token write --slack-app-token, too.');
    if (flags.offline === true) return { botToken, appToken, apiUrl };
    const tokens = { botToken: botToken.value, appToken: appToken.value, apiUrl: apiUrl ?? slackApi };
    const probe = await dialog.during('Asking Slack', () =>
      probeSlack({
        ...tokens,
        features: { agentView: true, reaction: false, ratings: false, userGroups: false },
      }),
    );
    if (probe.ok) {
      dialog.say(`Slack knows the app: @${probe.user} in ${probe.team}.`);
      for (const { scope, why } of probe.missing) dialog.say(`It lacks the scope ${scope}: ${why}.`);
      return { botToken, appToken, apiUrl };
    }
    refuse(dialog, `${probe.token}: ${probe.message}`);
  }
}

const slackApi = 'https://slack.com/api/';

/** Says what is wrong; at a terminal the question then comes again. Throws OperatorError if nobody can be asked. */
function refuse(dialog: Dialog, message: string): void {
  if (!dialog.asks) throw new OperatorError(`${message}. --offline skips this check.`);
  dialog.say(`${message}.`);
}
