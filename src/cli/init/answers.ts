/** A secret, and the variable by which the config names it. */
export type Secret = Readonly<{
  variable: string;
  value: string;
  /** Whether the environment has it already, so that `.env` need not hold it. */
  isSet: boolean;
}>;

export type ModelAnswer =
  | Readonly<{ kind: 'anthropic'; key: Secret; model: string }>
  /** A server of the operator's own that speaks the Messages API. */
  | Readonly<{ kind: 'server'; baseUrl: string; model: string; key?: Secret }>;

export type TelegramAnswer = Readonly<{
  token: Secret;
  /** The address of the Bot API. Undefined: Telegram's own server. */
  apiRoot?: string;
  username?: string;
}>;

export type SlackAnswer = Readonly<{ botToken: Secret; appToken: Secret; apiUrl?: string }>;

/** A person or group, with a name for readers of the config. */
export type Named = Readonly<{ id: string; name?: string }>;

/** All that the wizard found out. The config and `.env` are written from it. */
export type Answers = Readonly<{
  name: string;
  model?: ModelAnswer;
  telegram?: TelegramAnswer;
  slack?: SlackAnswer;
  owners: readonly Named[];
  groups: readonly Named[];
}>;

export function secretsOf({ model, telegram, slack }: Answers): readonly Secret[] {
  return [model?.key, telegram?.token, slack?.botToken, slack?.appToken].filter((one) => one !== undefined);
}
