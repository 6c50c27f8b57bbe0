import type { SkillRules } from '../core/access-settings.ts';
import type { SeenChatType } from '../core/conversation.ts';

/**
 * Those of these skills that only some people of the chat may use, by `allow_users`. Files they write are kept apart
 * from the chat's folder (S16). Empty in a direct message, which has only one person.
 */
export function restrictedSkills(
  names: readonly string[],
  { skills }: SkillRules,
  chatType: SeenChatType,
): readonly string[] {
  if (chatType === 'private') return [];
  return names.filter((name) => skills.get(name)?.allowUsers !== undefined);
}
