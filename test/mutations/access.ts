import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

const refusal = { file: 'access/skill-refusal.ts', test: 'access/skill-refusal.test.ts' } as const;

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
