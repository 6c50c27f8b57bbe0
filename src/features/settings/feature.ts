import type { Feature } from '../../core/feature.ts';
import { requesterOf } from '../../core/message.ts';
import type { BookDeps } from '../../routines/define-routine.ts';
import { answerZone } from '../../routines/person-zone.ts';
import type { ChatAgent } from '../../settings/chat-agent.ts';
import { settingPrefix } from '../../settings/setting-views.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';

/** What people change in a chat: settings of tools (X3), their time zone (U20), the model and the persona (M15). */
export function settingsFeature(deps: {
  settings: Pick<SettingsTalk, 'answer' | 'press'>;
  chatAgent: Pick<ChatAgent, 'model' | 'persona'>;
  routines: BookDeps;
}): Feature {
  const { settings, chatAgent, routines } = deps;
  return {
    name: 'settings',
    commands: {
      async settings(message, args, { write, openForm }) {
        const zone = ofZone.exec(args)?.[1];
        const { text, buttons } = await (zone === undefined
          ? settings.answer(message, args, openForm)
          : answerZone(zone, requesterOf(message), routines, write));
        return { text, more: { buttons } };
      },
      model: (message, args, { write }) => chatAgent.model(message, args, write),
      persona: (message, args, { write }) => chatAgent.persona(message, args, write),
    },
    presses: {
      async [settingPrefix]({ press, openForm }) {
        const changed = await settings.press(press, openForm);
        if (changed === undefined) return undefined;
        if ('text' in changed) return { text: changed.text, buttons: changed.buttons };
        return changed.refused === undefined ? undefined : { told: changed.refused };
      },
    },
  };
}

/** Whether `/settings args` sets something, and is no sentence that begins with the word. */
export function isSetting(args: string, settings: Pick<SettingsTalk, 'isMeant'>): boolean {
  return settings.isMeant(args) || ofZone.test(args);
}

/** Everybody's own (U20). */
const ofZone = /^time[ _-]?zone(?:$|\s+)(.*)$/i;
