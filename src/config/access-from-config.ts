import type { AccessLevel, AccessSettings, SkillRules } from '../core/access-settings.ts';
import type { Config } from './complete-config.ts';

/** What `decideMessage` needs (A9). */
export function accessSettings({ bot, access, slack }: Config): AccessSettings {
  const { telegram: ofTelegram, slack: ofSlack, chats, ...general } = access;
  const channels: readonly (readonly [string, AccessLevel | undefined])[] = [
    ['telegram', ofTelegram],
    ['slack', ofSlack],
  ];
  return {
    owners: bot.owner,
    general,
    channels: new Map(channels.flatMap(([name, level]) => (level === undefined ? [] : [[name, level]]))),
    chats: new Map(Object.entries(chats)),
    allowExternal: slack.allowExternal,
  };
}

/** What `decideSkill` needs (A2, A4, A7). */
export function skillRules({ skills }: Config): SkillRules {
  return {
    enabled: skills.enabled,
    defaults: skills.defaults,
    skills: new Map(Object.entries(skills.byName)),
  };
}
