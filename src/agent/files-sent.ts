import type { Entry } from '../core/entry.ts';
import type { ShownFile } from '../core/received.ts';
import { callsOf } from './read-turn.ts';

/** What came with the message for which a call was made, and with what its sender added to it meanwhile. */
export function filesSent(
  entries: readonly Entry[],
  sender: string,
  toolUseId: string,
): readonly ShownFile[] | undefined {
  const call = entries.findIndex(
    (entry) => entry.kind === 'assistant' && callsOf(entry).some(({ id }) => id === toolUseId),
  );
  // A call that a person's own command stands behind is not among the answers.
  const before = call < 0 ? entries : entries.slice(0, call);
  const theirs = before.flatMap((entry) => (entry.kind === 'user' && entry.sender === sender ? [entry] : []));
  const files = theirs
    .slice(theirs.findLastIndex(({ joins }) => joins === undefined))
    .flatMap((entry) => entry.files ?? []);
  const each = files.filter(({ hash }, index) => files.findIndex((one) => one.hash === hash) === index);
  return each.length === 0 ? undefined : each;
}
