import { shownIdLength } from '../core/message.ts';
import type { Ask } from '../stores/asks.ts';
import type { ListedItem } from '../stores/inbox.ts';
import { inlineCode } from './inline-code.ts';
import { journalOf } from './tasks.ts';

/** What `/tasks` says of the background runs of a conversation; `asks` are the open ones there. */
export function describeTasks(
  items: readonly ListedItem[],
  { asks, reader }: Readonly<{ asks: readonly Ask[]; reader: string }>,
): string {
  if (items.length === 0) return 'Nothing runs in the background here.';
  const lines = items.map(({ key, message, takenAt, acceptedAt }) => {
    const { task, sender } = message ?? {};
    const journal = task?.kind === 'run' ? journalOf(task) : undefined;
    const ask = asks.find(({ kind, transcript }) => kind === 'approval' && transcript === journal);
    const whose = ask?.requester === reader ? 'your' : 'a';
    const state = takenAt === undefined ? 'waits' : 'runs';
    const doing = ask === undefined ? state : `waits for ${whose} yes`;
    const since = new Date(ask?.askedAt ?? acceptedAt).toISOString().slice(0, 16).replace('T', ' ');
    return `- \`${task?.id.slice(0, shownIdLength) ?? key}\` ${task?.skill ?? 'a run'}, for ${inlineCode(sender?.name ?? 'somebody')}, ${doing} since ${since} UTC`;
  });
  return ['In the background here:', '', ...lines].join('\n');
}
