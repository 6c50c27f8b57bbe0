type Kind = Readonly<{ begins: RegExp; is: string; from: string }>;

/** Tokens that people mix up: how each looks and where it is copied. */
const kinds = {
  telegram: { begins: /^\d+:/, is: 'a Telegram bot token', from: '@BotFather: /mybots, API Token' },
  slackBot: {
    begins: /^xoxb-/,
    is: 'a Slack bot token (xoxb-…)',
    from: 'OAuth & Permissions, Bot User OAuth Token',
  },
  slackApp: {
    begins: /^xapp-/,
    is: 'a Slack app-level token (xapp-…)',
    from: 'Basic Information, App-Level Tokens',
  },
  slackUser: { begins: /^xox[a-z]-/, is: 'another token of Slack', from: '' },
  anthropic: { begins: /^sk-ant-/, is: 'an API key of Anthropic (sk-ant-…)', from: 'console.anthropic.com' },
  openai: {
    begins: /^sk-(proj|svcacct|admin)-/,
    is: 'an API key of OpenAI (sk-proj-…)',
    from: 'platform.openai.com, API keys',
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type TokenKind = 'telegram' | 'slackBot' | 'slackApp' | 'anthropic' | 'openai';

/** Why this can't be the token that is asked for. Undefined if it can. Never quotes it. */
export function wrongToken(wanted: TokenKind, value: string): string | undefined {
  const { begins, is, from } = kinds[wanted];
  if (begins.test(value)) return undefined;
  const found = Object.values(kinds).find((kind) => kind.begins.test(value));
  // Keys of models may look different.
  if (found === undefined && (wanted === 'anthropic' || wanted === 'openai')) return undefined;
  return `That is ${found?.is ?? 'no token of this kind'}. Wanted is ${is}: copy it from ${from}.`;
}
