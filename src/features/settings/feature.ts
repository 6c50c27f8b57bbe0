import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { fixed } from '../../core/texts/say.ts';
import type { FeatureKit } from '../kit.ts';
import { answerModel, answerPersona } from './answer-agent.ts';
import { settingPrefix } from './setting-views.ts';
import { createSettingsTalk } from './settings-talk.ts';

/** What owners change in a chat: settings of tools (X3), the model and the persona (M15). */
export const settings = {
  create: createSettings,
  commands: {
    settings: {
      menu: fixed`Set up the tools in this chat`,
      help: (write, say) => say`${write('settings')} sets up the tools in this chat (owners)`,
      alone: true,
    },
    model: {
      menu: fixed`My model in this chat (owners)`,
      help: (write, say) =>
        say`${write('model')} and ${write('persona')} set my model and persona in this chat (owners)`,
      alone: true,
    },
    persona: { menu: fixed`My persona in this chat (owners)`, alone: true },
  },
} satisfies FeatureKit;

function createSettings(app: App): Feature {
  const settings = createSettingsTalk(app);
  return {
    name: 'settings',
    start: () => app.patient(settings.load, { repeatable: true }),
    takes: { answer: (message) => settings.takeValue(message) },
    commands: {
      settings: {
        isMeant: settings.isMeant,
        async answer(message, args, { openForm }) {
          const { text, buttons } = await settings.answer(message, args, openForm);
          return { text, more: { buttons } };
        },
      },
      model: answerModel(app),
      persona: answerPersona(app),
    },
    presses: {
      async [settingPrefix]({ press, openForm }) {
        const changed = await settings.press(press, openForm);
        if (changed === undefined) return undefined;
        if ('text' in changed) return { text: changed.text, buttons: changed.buttons };
        return changed.refused === undefined ? undefined : { told: changed.refused };
      },
    },
    form: async (filled) =>
      filled.action.startsWith(`${settingPrefix}:`) ? settings.takeForm(filled) : undefined,
    async home({ conversation, chatType, sender }) {
      const menu = await settings.menu({
        conversation,
        chatType,
        sender: sender.id,
        language: sender.language,
      });
      return menu === undefined ? {} : { end: [{ markdown: menu.text, buttons: menu.buttons }] };
    },
  };
}
