import { shownIdLength, type Sender } from '../core/message.ts';
import type { Ask } from '../store/asks.ts';
import type { ListedItem } from '../store/inbox.ts';
import { inlineCode } from '../lib/text/inline-code.ts';
import { journalOf } from '../runs/tasks.ts';
import { sayIn } from '../core/texts/say.ts';

/** `asks` are the open ones where the runs belong. */
type Reading = Readonly<{ asks: readonly Ask[]; reader: Pick<Sender, 'id' | 'language'> }>;

/** What `/tasks` says of the background runs of a conversation. */
export function describeTasks(items: readonly ListedItem[], { asks, reader }: Reading): string {
  const say = sayIn(reader.language);
  if (items.length === 0) return say`Nothing runs in the background here.`;
  const lines = items.map((item) => `- ${describeTask(item, { asks, reader })}`);
  return [say`In the background here:`, '', ...lines].join('\n');
}

/** One run, in a line. */
export function describeTask(
  { key, message, takenAt, acceptedAt }: ListedItem,
  { asks, reader }: Reading,
): string {
  const say = sayIn(reader.language);
  const { task, sender } = message ?? {};
  const journal = task?.kind === 'run' ? journalOf(task) : undefined;
  const ask = asks.find(({ kind, transcript }) => kind === 'approval' && transcript === journal);
  const state = takenAt === undefined ? say`waiting` : say`running`;
  const asked = ask?.requester === reader.id ? say`waiting for your yes` : say`waiting for a yes`;
  const since = new Date(ask?.askedAt ?? acceptedAt).toISOString().slice(0, 16).replace('T', ' ');
  const what = `\`${task?.id.slice(0, shownIdLength) ?? key}\` ${task?.skill ?? say`a run`}`;
  const name = inlineCode(sender?.name ?? say`somebody`);
  return say`${what}, for ${name}, ${ask === undefined ? state : asked} since ${since} UTC`;
}
