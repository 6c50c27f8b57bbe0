import type { Entry } from '../core/entry.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import { fixed } from '../core/texts/say.ts';

export const nothingToRetry = fixed`I found no earlier question of yours here to answer again.`;

const note = labelled(
  'host',
  'The person wants another answer to this earlier message of theirs. Answer it from the beginning, as if you had not answered it before.',
);

type Said = Extract<Entry, { kind: 'user' }>;

/** A person's last question here as a new entry, without the questions of runs that it answered. */
export function askedAgain(
  entries: readonly Entry[],
  { key, sender, at }: Readonly<{ key: string; sender: string; at: number }>,
): Said | undefined {
  const last = entries.findLast(
    (entry): entry is Said =>
      entry.kind === 'user' &&
      entry.item !== undefined &&
      entry.sender === sender &&
      entry.about === undefined &&
      entry.unread === undefined,
  );
  if (last === undefined) return undefined;
  const { answers: _answers, asked: _asked, joins: _joins, context: _context, content, ...said } = last;
  return { ...said, item: key, content: withNote(content), at };
}

function withNote(content: Said['content']): Said['content'] {
  if (typeof content === 'string') return content.startsWith(note) ? content : `${note}\n${content}`;
  const [first] = content;
  return first?.type === 'text' && first.text === note ? content : [{ type: 'text', text: note }, ...content];
}
