import { changesOf } from './changes-of.ts';

const programs = 'cli/bundle-programs.test.ts';
const answers = 'operator/rehearse-answers.test.ts';
const money = 'end-to-end/money.test.ts';

/** Files of bundles (F12), rehearsals (L20), legal holds (L18) and money (G6). */
export const evidenceMutations = [
  ...changesOf('skills/install/bundle-place.ts', programs, [
    ['changed files of a bundle run', ': checkPinned(root, bundle.files);', ': undefined;'],
    [
      'a link leads to the files of a bundle',
      'const isLink = [root, dirname(root)].some((folder) => isNoFolder(folder));',
      'const isLink = false;',
    ],
    [
      'bundles of one name share their data',
      'join(bundleDataRoot(dataDir), `${name}-${mark}`)',
      'join(bundleDataRoot(dataDir), name)',
    ],
  ]),
  ...changesOf('features/mcp/bundle-settings.ts', programs, [
    [
      'a command leads out of its bundle',
      "settings.command?.includes('${PLUGIN_ROOT}') === true &&",
      'false &&',
    ],
  ]),
  ...changesOf('features/mcp/create-configured-servers.ts', 'end-to-end/bundle-servers.test.ts', [
    ['files that were removed still run', ' && filesOf(now) === files) continue;', ') continue;'],
  ]),
  ...changesOf('cli/show-offer.ts', programs, [
    [
      'a section gives a server variables of the bot',
      '.filter((name) => used.has(name))',
      '.filter(() => false)',
    ],
  ]),
  ...changesOf('operator/rehearse/recorded-turns.ts', answers, [
    [
      'private turns are sampled unasked',
      'if (isHidden && !asked.private) add(direct);',
      'if (false) add(direct);',
    ],
    [
      'a private turn is read unasked',
      'return !asked.private && isPrivate(turn, { transcript, entries, damaged }) ? undefined : turn;',
      'return turn;',
    ],
    ['private data in a group counts as public', ' || taintIn(entries, damaged) !== undefined', ''],
  ]),
  ...changesOf('operator/rehearse/answer-from-record.ts', 'operator/answer-from-record.test.ts', [
    ['a rehearsal answers for a tool that is not offered', 'offers(name) ? (', 'true ? ('],
    ['a rehearsal answers any call', 'return isDeepStrictEqual(one, other);', 'return true;'],
  ]),
  ...changesOf('store/prune.ts', 'store/embedded.test.ts', [
    [
      'retention removes what is under a hold',
      "columns === undefined ? '' : `AND NOT ${isHeld(sql, columns)}`",
      "''",
    ],
    ['retention removes transcripts under a hold', "AND NOT ${isHeld(sql, { places: ['transcript'] })}", ''],
  ]),
  ...changesOf('operator/forget-somebody.ts', 'operator/holds.test.ts', [
    ['who is under a hold is forgotten', 'if (held.length === 0) return;', 'return;'],
    ['a hold on a place forgets who spoke there', ', ...(await store.placesNaming(sender))]', ']'],
  ]),
  ...changesOf('features/spending/money-questions.ts', money, [
    ['anybody adds money', 'if (refused !== undefined) {', 'if (false) {'],
    [
      'money is added twice',
      'if (await budgets.isAllowed(request.id)) return;',
      '',
      { test: 'features/spending/money-questions.test.ts' },
    ],
    ['a budget with room stays asked for', 'if (await isReached()) return', 'return'],
  ]),
  ...changesOf('limits/dollar-budgets.ts', 'limits/dollar-budgets.test.ts', [
    [
      'a month does not count',
      "const periods = ['day', 'month'] as const;",
      "const periods = ['day'] as const;",
    ],
    ['money for one budget is in all', 'if (allowance.budget === budget) sum', 'sum'],
    ['the next call does not count', ' || spent + next > limit', ''],
  ]),
  ...changesOf('replies/private-parts.ts', 'end-to-end/said-to-one.test.ts', [
    [
      'words for one person go to all when the platform refuses',
      'if (onlyTo === undefined || part.from !== undefined) return undefined;',
      'return undefined;',
    ],
    [
      'words for one person edit what others see',
      'return part.onlyTo === shown.onlyTo || (part.from !== undefined && shown.onlyTo === undefined);',
      'return true;',
      { test: 'replies/deliver.test.ts' },
    ],
  ]),
];
