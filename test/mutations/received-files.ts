import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** How files that people send come in (M12). */
export const receivedFileMutations: readonly Mutation[] = [
  ...changesOf('channels/telegram/fetch-file.ts', 'channels/telegram-files.test.ts', [
    ['the token goes along a redirect', "redirect: 'manual'", "redirect: 'follow'"],
    ['a file of the Bot API server itself is asked for', '/^[a-z]:|\\\\/i.test(path)', 'false'],
    ['a path of a download may climb', 'names.some((name) => /^\\.{0,2}$/.test(name))', 'false'],
    ['a file that came in part is taken', 'saved !== size', 'false'],
  ]),
  ...changesOf('channels/save-file.ts', 'channels/save-file.test.ts', [
    ['a file has no largest size', 'if (size > maxBytes) throw', 'if (false) throw'],
  ]),
];
