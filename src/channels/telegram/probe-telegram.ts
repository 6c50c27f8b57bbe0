import { createTelegramApi, TelegramFault, type TelegramApi } from './telegram-api.ts';

export type TelegramProbe =
  | Readonly<{
      ok: true;
      username: string;
      /** True if privacy mode is off, so that mentions in groups arrive. */
      hearsGroups: boolean;
      webhook: Readonly<{ url: string; trouble: string | undefined }> | undefined;
      /** Those of the people asked about who never wrote to the bot. */
      strangers: readonly string[];
    }>
  | Readonly<{ ok: false; refused: boolean; message: string }>;

const patienceSeconds = 10;

/** Asks Telegram who the bot is. It fetches no updates and changes nothing. `people` are qualified ids. */
export async function probeTelegram(
  { token, apiRoot }: Readonly<{ token: string; apiRoot?: string }>,
  people: readonly string[] = [],
): Promise<TelegramProbe> {
  const api = createTelegramApi({ token, apiRoot, timeoutSeconds: patienceSeconds });
  try {
    const me = await api.getMe();
    const { url = '', last_error_message: trouble } = await api.getWebhookInfo();
    const known = await Promise.all(people.map((person) => knows(api, person)));
    return {
      ok: true,
      username: me.username,
      hearsGroups: me.can_read_all_group_messages,
      webhook: url === '' ? undefined : { url, trouble },
      strangers: people.filter((_, at) => known[at] !== true),
    };
  } catch (error) {
    if (!(error instanceof TelegramFault)) throw error;
    const refused = error.kind === 'answered' && (error.code === 401 || error.code === 404);
    return { ok: false, refused, message: error.message };
  }
}

/** Whether a person wrote to the bot: Telegram tells a bot only about those. */
async function knows(api: TelegramApi, person: string): Promise<boolean> {
  try {
    await api.getChat({ chat_id: Number(person.slice(person.indexOf(':') + 1)) });
    return true;
  } catch (error) {
    if (error instanceof TelegramFault && error.kind === 'answered' && error.code === 400) return false;
    throw error;
  }
}
