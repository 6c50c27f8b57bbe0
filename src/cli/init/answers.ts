/** A secret, and the variable that the config names it by. */
export type Secret = Readonly<{
  variable: string;
  value: string;
  /** It is in the environment already, so `.env` need not hold it. */
  isSet: boolean;
}>;

export type ModelAnswer =
  | Readonly<{ kind: 'anthropic'; key: Secret; model: string }>
  /** A server that speaks the Messages API. */
  | Readonly<{ kind: 'server'; baseUrl: string; model: string; key?: Secret }>;

export type TelegramAnswer = Readonly<{
  token: Secret;
  /** Absent: Telegram's own. */
  apiRoot?: string;
  username?: string;
}>;

export type SlackAnswer = Readonly<{ botToken: Secret; appToken: Secret; apiUrl?: string }>;

/** Somebody or some group, with a name for the reader of the config. */
export type Named = Readonly<{ id: string; name?: string }>;

/** All that the wizard found out: from this the two files are written. */
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
