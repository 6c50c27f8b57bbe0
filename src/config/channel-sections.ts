import { z } from 'zod';
import { httpUrl, listenAddress, section } from './section.ts';

/** `[telegram]`, off without a token. Webhook mode needs an address and a secret (H3). */
export const telegramSection = section(
  {
    token: z.string().min(1).optional(),
    mode: z.enum(['polling', 'webhook']).default('polling'),
    api_root: httpUrl.default('https://api.telegram.org'),
    webhook_url: httpUrl.optional(),
    webhook_secret: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,256}$/, { error: 'write 1 to 256 of the characters A-Z, a-z, 0-9, _ and -' })
      .optional(),
    listen: listenAddress.default('127.0.0.1:8443'),
    paced: z.boolean().default(true),
    reaction: z.string().default(''),
  },
  (table, complain) => {
    if (table['mode'] !== 'webhook') return;
    if (table['webhook_url'] === undefined) {
      complain(['webhook_url'], 'mode = "webhook" needs the https address that Telegram should call');
    }
    if (table['webhook_secret'] === undefined) {
      complain(['webhook_secret'], 'mode = "webhook" needs a secret: write "$TELEGRAM_WEBHOOK_SECRET"');
    }
  },
);

/** `[slack]`, off without tokens. Socket mode needs the app token, http mode the signing secret. */
export const slackSection = section(
  {
    bot_token: z.string().min(1).optional(),
    app_token: z.string().min(1).optional(),
    signing_secret: z.string().min(1).optional(),
    mode: z.enum(['socket', 'http']).default('socket'),
    api_url: httpUrl.default('https://slack.com/api/'),
    listen: listenAddress.default('127.0.0.1:3000'),
    command: z
      .string()
      .regex(/^\/[a-z0-9_-]{1,31}$/, { error: 'write a slash and at most 31 of a-z, 0-9, _ and -: "/skill"' })
      .default('/skill'),
    allow_external: z.boolean().default(false),
    thread_follow: z.boolean().default(true),
    agent_view: z.boolean().default(false),
    reaction: z
      .string()
      .regex(/^[\p{L}\p{N}_+'-]{0,100}(::skin-tone-[2-6])?$/u, {
        error: 'write the name of an emoji, without colons: "eyes"',
      })
      .default(''),
  },
  (table, complain) => {
    const second = table['mode'] === 'http' ? 'signing_secret' : 'app_token';
    const has = (key: string): boolean => table[key] !== undefined;
    if (has('bot_token') && !has(second)) {
      complain(
        [second],
        `bot_token is set, and this mode needs ${second} too: write "$SLACK_${second.toUpperCase()}"`,
      );
    }
    if (!has('bot_token') && (has('app_token') || has('signing_secret'))) {
      complain(['bot_token'], 'Slack needs the bot token too: write "$SLACK_BOT_TOKEN"');
    }
  },
);
