import type { WriteCommand, Home, HomeSection, Visit } from '../../core/channel.ts';
import type { MessageDenial } from '../../access/decide-message.ts';
import type { Store } from '../../store/store.ts';
import { systemZone } from '../../core/local-time.ts';
import { sayIn } from '../../core/texts/say.ts';
import { describeTask, listSkills, startButtons, type Overview } from '../overview.ts';
import type { Pairing } from '../../access/pairing.ts';
import type { Users } from '../../access/users.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import { ownRuns, taskId } from '../../runs/conversation-work.ts';

/**
 * The page beside the chat (H4): what a person may use and what runs for them, judged now. `told`: what came of a
 * press there.
 */
export type HomePage = (visit: Visit, told: readonly string[]) => Promise<Home>;

const mostRuns = 10;

export function createHomePage(options: {
  runtime: () => Pick<RuntimeConfig, 'config'>;
  users: Pick<Users, 'mayAct' | 'isOwner'>;
  pairing: Pick<Pairing, 'pending'>;
  overview: Overview;
  settings: Pick<SettingsTalk, 'menu'>;
  store: Pick<Store, 'asks' | 'inbox'>;
  writeCommand: WriteCommand;
}): HomePage {
  const { runtime, users, pairing, overview, settings, store, writeCommand } = options;

  async function skills(visit: Visit): Promise<HomeSection> {
    const { conversation, sender } = visit;
    const usable = await overview.usable(visit);
    const write = (name: string, args?: string): string => writeCommand(conversation, name, args);
    return { markdown: listSkills(usable, write, sayIn(sender.language)), buttons: startButtons(usable) };
  }

  async function runs({ sender }: Visit): Promise<Home> {
    const say = sayIn(sender.language);
    const zone = runtime().config.bot.timezone ?? systemZone();
    const shown = (await ownRuns(sender.id, store.inbox)).slice(0, mostRuns);
    return Promise.all(
      shown.map(async (item) => {
        const asks = item.message === undefined ? [] : await store.asks.open(item.message.conversation);
        const action = `stop:${taskId(item) ?? ''}`;
        const markdown = describeTask(item, { asks, reader: sender, zone });
        return { markdown, buttons: [{ label: say`Stop`, action }] };
      }),
    );
  }

  async function pairings({ sender }: Visit): Promise<Home> {
    if (!(await users.isOwner(sender.id))) return [];
    const say = sayIn(sender.language);
    return (await pairing.pending()).map(({ name, sender: id, code }) => ({
      markdown: say`${inlineCode(name)} asks to use this bot: id ${inlineCode(id)}.`,
      buttons: [
        { label: say`Approve`, action: `pair:approve:${code}` },
        { label: say`Deny`, action: `pair:deny:${code}` },
      ],
    }));
  }

  return async (visit, told) => {
    const { conversation, chatType, sender } = visit;
    const say = sayIn(sender.language);
    const may = await users.mayAct(visit);
    if (!may.allowed) return [{ markdown: toStranger(visit, may.code) }];
    const { name } = runtime().config.bot;
    const hello = say`Hello, I am ${name}. Write to me in a direct message, or start a skill here: I answer there.`;
    const { model, used, notices } = await overview.status(sender);
    const menu = await settings.menu({
      conversation,
      chatType,
      sender: sender.id,
      language: sender.language,
    });
    return [
      { markdown: [...told, hello].join('\n\n') },
      ...(await pairings(visit)),
      ...(await runs(visit)),
      await skills(visit),
      { markdown: [used, model, ...notices].join('\n\n') },
      ...(menu === undefined ? [] : [{ markdown: menu.text, buttons: menu.buttons }]),
    ];
  };
}

function toStranger({ sender }: Visit, code: MessageDenial): string {
  const say = sayIn(sender.language);
  if (code === 'STRANGER')
    return say`I don't know you yet. Write to me in a direct message: I’ll reply with a pairing code that my operator can approve.`;
  if (code === 'NOT_ALLOWED')
    return say`I only talk to people my operator has listed. Your id is ${inlineCode(sender.id)}.`;
  return say`You don’t have access to this bot.`;
}
