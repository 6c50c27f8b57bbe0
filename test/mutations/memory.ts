import type { Mutation } from './mutation.ts';

/** Who sees a memory (K1, K2). */
export const memoryMutations: readonly Mutation[] = [
  {
    file: 'features/routines/define-routine.ts',
    test: 'end-to-end/lasting.test.ts',
    name: 'a new name makes a forwarded task one’s own',
    find: "now.words === 'typed' && !isReplaced",
    replace: 'false',
  },
  {
    file: 'conversations/taint-of-own-words.ts',
    test: 'end-to-end/relayed-words.test.ts',
    name: 'words of the bot from nobody knows where are free',
    find: 'direct.taint : true',
    replace: 'direct.taint : undefined',
  },
  {
    file: 'features/routines/routine-tools.ts',
    test: 'end-to-end/copied-words.test.ts',
    name: 'a short title carries words of others',
    find: "return title.words === 'typed' ? of : title;",
    replace: 'return title.words === undefined ? title : of;',
  },
  {
    file: 'runs/whose-draft.ts',
    test: 'end-to-end/lasting-words.test.ts',
    name: 'words that came along become a skill unasked',
    find: "sourceOf(text, met, sender) !== 'foreign'",
    replace: 'true',
  },
  {
    file: 'operator/direct-words.ts',
    test: 'dashboard/direct-words.test.ts',
    name: 'operators read messages of direct messages',
    find: 'text: isRead ? text : ',
    replace: 'text: isRead || text ? text : ',
  },
  {
    file: 'features/approvals/operations.ts',
    test: 'dashboard/direct-words.test.ts',
    name: 'operators read the calls of direct messages',
    find: "input: isDirect ? '' : ",
    replace: 'input: ',
  },
  {
    file: 'features/memory/team-notes.ts',
    test: 'dashboard/memory.test.ts',
    name: 'operators remove notes of a person',
    find: "!decideMemory(memory, { ...operator, what: 'forget' }).allowed",
    replace: 'false',
  },
];
