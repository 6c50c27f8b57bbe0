import type { ModelApi } from '../../core/model.ts';

/** A secret, and the variable by which the config names it. */
export type EnvSecret = Readonly<{
  variable: string;
  value: string;
  /** Whether the environment has it already, so that `.env` need not hold it. */
  isSet: boolean;
}>;

export type ModelChoice = Readonly<{
  api: ModelApi;
  model: string;
  /** Undefined: the usual address of this kind. */
  baseUrl?: string | undefined;
  key?: EnvSecret | undefined;
  region?: string | undefined;
  project?: string | undefined;
}>;

export type TelegramAnswer = Readonly<{
  token: EnvSecret;
  /** The address of the Bot API. Undefined: Telegram's own server. */
  apiRoot?: string;
  username?: string;
}>;

export type SlackAnswer = Readonly<{ botToken: EnvSecret; appToken: EnvSecret; apiUrl?: string }>;

/** A person or group, with a name for readers of the config. */
export type FoundPerson = Readonly<{ id: string; name?: string }>;

/** All that the wizard found out. The config and `.env` are written from it. */
export type InitAnswers = Readonly<{
  name: string;
  model?: ModelChoice;
  telegram?: TelegramAnswer;
  slack?: SlackAnswer;
  owners: readonly FoundPerson[];
  groups: readonly FoundPerson[];
}>;

export function secretsOf({ model, telegram, slack }: InitAnswers): readonly EnvSecret[] {
  return [model?.key, telegram?.token, slack?.botToken, slack?.appToken].filter((one) => one !== undefined);
}
