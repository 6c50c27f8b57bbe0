import { changesOf } from './changes-of.ts';

const store = 'store/embedded.test.ts';

/** What is removed of a person, and what is past keeping (Q12). */
export const forgettingMutations = [
  ...changesOf('store/forget-person.ts', store, [
    [
      'archived conversations of somebody forgotten stay',
      '      entries += await removeTranscript(rows, transcript);',
      '      continue;',
    ],
    ['questions to somebody forgotten stay', 'requester === sender || isDirect(place)', 'isDirect(place)'],
    [
      'what somebody forgotten answered stays',
      '(ended && answeredBy(text, sender)) ? undefined',
      'false ? undefined',
    ],
    [
      'what was answered to somebody forgotten stays',
      'return items.has(itemOfKey(key)) || isDirect(place) ||',
      'return isDirect(place) ||',
    ],
    [
      'what was sent to somebody forgotten stays',
      'return items.has(itemOfKey(key)) || isDirect(place) ||',
      'return items.has(itemOfKey(key)) ||',
    ],
    ['the use of somebody forgotten stays', 'await rows.removeUsage(sender)', '0'],
    ['values of somebody forgotten stay', 'if (theirs.length > 0) await rows.removeKeys(of, theirs);', ''],
    ['a conversation that begins alike goes, too', '/^([/~]|$)/.test(place.slice(room.length))', 'true'],
    ['threads of somebody forgotten stay', '/^([/~]|$)/.test(place.slice(room.length))', 'place === room'],
    [
      'a group goes with one of its people',
      "if (rooms.get(room) !== 'shared' && findings.room !== 'unknown')",
      'if (true)',
    ],
    [
      'only the first rows are forgotten',
      'if (last === undefined || page.length < batch) return gone;',
      'return gone;',
    ],
  ]),
  ...changesOf('store/forget-entries.ts', store, [
    [
      'an id that begins like another is that one',
      'if (!/[\\p{L}\\p{N}_-]/u.test(around)) return true;',
      'return true;',
    ],
    ['what others quote of somebody forgotten stays', 'quote.sender === sender', 'false'],
    ['only one quote of somebody forgotten goes', 'shared: shared?.map(forget)', 'shared'],
    [
      'a damaged message of somebody forgotten stays',
      'return { theirs: names(text, sender), direct: false, rest: text };\n  const [',
      'return { theirs: false, direct: false, rest: text };\n  const [',
      { test: 'store/embedded-damage.test.ts' },
    ],
  ]),
  ...changesOf('store/forget-entries.ts', store, [
    ['a summary of somebody’s words stays', 'summary.senders?.includes(sender) ?? seen.theirs', 'false'],
    [
      'answers to somebody forgotten stay',
      "      return 'removed';\n    }\n    return entry.kind",
      "      return entry.kind === 'user' ? 'removed' : 'kept';\n    }\n    return entry.kind",
    ],
    [
      'a damaged entry of somebody forgotten stays',
      "seen.theirTurn || text.includes(sender) ? 'removed' : 'kept'",
      "'kept'",
      { test: 'store/embedded-damage.test.ts' },
    ],
    ['turns of others go, too', 'seen.theirTurn = from === sender;', 'seen.theirTurn ||= from === sender;'],
    ['a short word of somebody forgotten is everybody’s', 'letters.length >= tellingLetters &&', ''],
  ]),
  ...changesOf('store/sqlite/create-embedded-store.ts', 'store/embedded-forget.test.ts', [
    ['what was forgotten is still in the journal', 'await emptyJournal(connection);', ''],
  ]),
  ...changesOf('store/forget-rows.ts', store, [
    [
      'a row that changed meanwhile is removed',
      '`DELETE FROM ${table} WHERE seq = ?1 AND ${text} = ?2`',
      '`DELETE FROM ${table} WHERE seq = ?1 AND ${text} <> ?2`',
    ],
  ]),
  ...changesOf('store/prune.ts', store, [
    ['waiting items are pruned', "status = 'done' AND finished_at", 'accepted_at'],
    ['what was overheard is kept for ever', 'keptMs: bounds.groupContextKeptMs', 'keptMs: Infinity'],
    ['sign-ins are kept for ever', 'keptMs: bounds.flowsKeptMs', 'keptMs: Infinity'],
    ['outcomes are forgotten at once', 'keptMs: bounds.outcomesKeptMs', 'keptMs: 0'],
    [
      'a conversation in use is pruned',
      'if ((yield* stillQuiet(transcript, before)).rows.length === 0) return false;',
      '',
      { test: 'store/embedded-damage.test.ts', only: 'while a long conversation' },
    ],
    [
      'what was sent is kept for ever',
      "UPDATE outbox SET part = '${noText}' WHERE $",
      'UPDATE outbox SET part = part WHERE 0 AND $',
      { test: 'store/outbox-texts.test.ts' },
    ],
    ['only the first rows are pruned', '.changed >= size', '.changed < 0'],
  ]),
  ...changesOf('store/forget-person.ts', 'operator/forget-places.test.ts', [
    [
      'threads with somebody forgotten are remembered',
      'names(key, sender) || isDirect(key) ||',
      'names(key, sender) ||',
    ],
  ]),
  ...changesOf('store/forget-person.ts', store, [
    [
      'a room of others goes where it is told',
      '!shared.some((other) => isWithin(other, new Set([room])))',
      'true',
    ],
  ]),
];
