import type { Feature } from '../../core/feature.ts';
import { settingPrefix } from '../../settings/setting-views.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';

/** What people change in a chat (X3). */
export function settingsFeature({ settings }: { settings: Pick<SettingsTalk, 'press'> }): Feature {
  return {
    name: 'settings',
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
