import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

const skill = { file: 'access/decide-skill.ts', test: 'access/decide-skill.test.ts' } as const;
const access = { file: 'access/decide-skill.ts', test: 'access/decide-skill.test.ts' } as const;
const refusal = { file: 'access/skill-refusal.ts', test: 'access/skill-refusal.test.ts' } as const;
const message = { file: 'access/decide-message.ts', test: 'access/decide-message.test.ts' } as const;

/** Who may talk, and who may use what (A1–A11). */
export const accessMutations: readonly Mutation[] = [
  {
    ...refusal,
    name: 'a refusal tells of a skill that is not the person’s',
    find: 'if (!isTheirs) return toOwner ?',
    replace: 'if (!isTheirs && toOwner) return toOwner ?',
  },
  {
    ...refusal,
    name: 'a model is told the refusal of a person',
    find: "use.by !== 'person' || ",
    replace: '',
  },
  {
    ...refusal,
    name: 'a refusal sends to a direct message that a list keeps out',
    find: 'chatIds: [use.sender] }',
    replace: 'chatIds: use.chatIds }',
  },
  {
    ...skill,
    name: 'rules without `enabled` pass',
    find: 'enabled !== true)',
    replace: 'enabled === false)',
  },
  {
    ...skill,
    name: 'a skill without `approved` passes',
    find: 'access.approved === true',
    replace: 'access.approved !== false',
  },
  {
    ...skill,
    name: 'a skill that was switched off passes',
    find: '!(own ?? !access.optIn)',
    replace: '!(own ?? true) && access.optIn',
  },
  {
    ...skill,
    name: 'an opt-in skill is on',
    find: 'own ?? !access.optIn',
    replace: 'own ?? true',
  },
  {
    ...skill,
    name: 'a model starts what only people may',
    find: "use.by !== 'person' && access.disableModelInvocation",
    replace: "use.by !== 'person' && false",
  },
  {
    ...skill,
    name: 'a person starts what only the model may',
    find: "use.by !== 'model' && !access.userInvocable",
    replace: "use.by !== 'model' && false",
  },
  {
    ...skill,
    name: 'config makes chat types wider',
    find: 'skill.access.chatTypes.filter((type) => byConfig.includes(type))',
    replace: 'byConfig',
  },
  {
    ...skill,
    name: 'sensitive in config does not mean direct messages',
    find: "settings?.chatTypes ?? (settings?.sensitive === true ? (['private'] as const) : undefined)",
    replace: 'settings?.chatTypes',
  },
  {
    ...skill,
    name: 'sensitive in config does not mark',
    find: 'return skill.access.sensitive || rules.skills.get(skill.name)?.sensitive === true;',
    replace: 'return skill.access.sensitive;',
  },
  {
    ...skill,
    name: 'people of a skill’s list are not asked for',
    find: 'users: settings.allowUsers,',
    replace: 'users: undefined,',
  },
  {
    ...skill,
    name: 'an own empty list of chats means none',
    find: 'own.length === 0 ? undefined : own',
    replace: 'own',
  },
  {
    ...skill,
    name: 'the default list of chats is passed over',
    find: 'return defaults.allowChatIds?.length ? defaults.allowChatIds : undefined;',
    replace: 'return undefined;',
  },
  {
    ...access,
    name: 'any chat type passes',
    find: '!rules.chatTypes.includes(use.chatType)',
    replace: 'false',
  },
  {
    ...access,
    name: 'a use without `external` passes',
    find: 'use.external !== false',
    replace: 'use.external === true',
  },
  {
    ...access,
    name: 'an empty list of chats means all',
    find: 'chats !== undefined && !use',
    replace: 'chats?.length && !use',
  },
  {
    ...access,
    name: 'an empty list of people means all',
    find: 'users !== undefined && !listsId',
    replace: 'users?.length && !listsId',
  },
  {
    ...message,
    name: 'another bot is a person',
    find: "readonly Sender['kind'][] = ['person',",
    replace: "readonly Sender['kind'][] = ['bot', 'person',",
  },
  {
    ...message,
    name: 'guests are admitted',
    find: "sender.kind === 'guest' && !settings.allowExternal",
    replace: 'false',
  },
  {
    ...message,
    name: 'everybody means guests, too',
    find: "sender.kind === 'person' && (level",
    replace: '(level',
  },
  {
    ...message,
    name: 'users of groups talk in private',
    find: "chatType !== 'private' && listsId(level.groupUsers",
    replace: 'listsId(level.groupUsers',
  },
  {
    ...message,
    name: 'a group that was allowed in chat admits everybody in it',
    find: 'if (!maySpeakInGroup(level, sender.id, isUser, isOwner)) {',
    replace: 'if (!known.groupAllowed && !maySpeakInGroup(level, sender.id, isUser, isOwner)) {',
  },
  {
    ...message,
    name: 'pairing is passed over',
    test: 'property/access-message.test.ts',
    find: 'named || everybody || known.paired',
    replace: 'named || everybody',
  },
  {
    ...message,
    name: 'strangers of an allowlist may pair',
    test: 'property/access-message.test.ts',
    find: "level.dm === 'allowlist'",
    replace: 'false',
  },
  {
    ...message,
    name: 'a group of no list is admitted',
    find: "level.groupsMode !== 'open' && !isListed",
    replace: 'false && !chatIds',
  },
  {
    ...message,
    name: 'whoever is in the group speaks',
    find: 'if (!maySpeakInGroup(level, sender.id, isUser, isOwner))',
    replace: 'if (false)',
  },
  {
    ...message,
    name: 'the bot answers what was not said to it',
    find: "!addressed && level.mention !== 'always'",
    replace: 'false',
  },
  {
    ...message,
    name: 'a chat’s own rules are passed over',
    find: 'settings.channels.get(channel), levelOfChat(settings, chatIds)',
    replace: 'settings.channels.get(channel)',
  },
  {
    ...message,
    name: 'a channel’s own rules are passed over',
    test: 'property/access-message.test.ts',
    find: 'settings.channels.get(channel), levelOfChat',
    replace: 'undefined, levelOfChat',
  },
  {
    ...message,
    name: 'a chat’s former ids are forgotten',
    find: 'chatIdOf(conversation), ...known.formerChatIds',
    replace: 'chatIdOf(conversation)',
  },
  {
    file: 'conversations/commands.ts',
    test: 'end-to-end/commands.test.ts',
    only: 'I3 A11',
    name: 'a mistyped name is answered with a skill that the person may not know of',
    find: 'const skills = (await usable(message)).map((skill) => skill.name);',
    replace: 'const skills = registry().skills.map((skill) => skill.name);',
  },
  ...changesOf('conversations/heard.ts', 'end-to-end/read-thread.test.ts', [
    ['strangers are heard in a channel', 'decisions[index]?.allowed === true', 'true'],
  ]),
  ...changesOf('runs/user-content.ts', 'agent/prompts.test.ts', [
    ['a name passes for the bot', '`${name} (a name)`', 'name'],
  ]),
];
