import type { Channel } from '../core/channel.ts';
import { requesterOf, type Message } from '../core/message.ts';
import { sayIn } from '../core/texts/say.ts';
import type { DeliverArtifacts } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { createMarkdownTask } from '../lib/markdown/long-markdown.ts';
import { shortenTables, type LargeTable } from '../lib/markdown/shorten-tables.ts';
import { csvLine } from '../lib/text/csv.ts';

const mostFiles = 5;

/** Returns the answer with previews instead of its large tables. */
export type SendLargeTables = (message: Message, answer: string) => Promise<string>;

/**
 * Sends large tables as CSV files before the answer, which keeps previews (H2). It can be repeated. If a file is
 * refused, the answer stays whole.
 */
export function createSendLargeTables({
  channels,
  deliverArtifacts,
  redact,
  log,
}: Readonly<{
  channels: ReadonlyMap<string, Channel>;
  deliverArtifacts: DeliverArtifacts;
  redact(): (text: string) => string;
  log: Log;
}>): SendLargeTables {
  const take = createMarkdownTask(new URL('./tables-worker', import.meta.url), {
    read: takeLargeTables,
    plain: ({ markdown }: Answer) => ({ markdown, tables: [] }),
    log,
  });
  return async (message, answer) => {
    const most = channels.get(message.conversation.channel)?.tableRows;
    // Files can't go to one person in a group.
    if (most === undefined || message.ephemeral === true || !answer.includes('|')) return answer;
    const { language } = message.sender;
    const { markdown, tables } = await take({ markdown: redact()(answer), most, language });
    if (tables.length > mostFiles) return answer;
    const of = { requester: requesterOf(message), turn: message.id, call: 'large tables' };
    for (const [index, rows] of tables.entries()) {
      const file = { name: tableName(index + 1), data: asCsv(rows), mime: 'text/csv' };
      const [sent] = await deliverArtifacts([file], { ...of, index });
      if (sent?.ok !== true) return answer;
    }
    return markdown;
  };
}

type Answer = Readonly<{ markdown: string; most: number; language: string | undefined }>;

export function takeLargeTables({ markdown, most, language }: Answer): ReturnType<typeof shortenTables> {
  const say = sayIn(language);
  return shortenTables(markdown, most, (shown, table, index) => {
    const rows = table.length - 1;
    return say`The first ${shown} of ${rows} rows. The whole table is in ${tableName(index)}.`;
  });
}

function tableName(index: number): string {
  return index === 1 ? 'table.csv' : `table-${index}.csv`;
}

/** Begins with a byte order mark, by which spreadsheets recognize UTF-8. */
function asCsv(rows: LargeTable): string {
  return '\ufeff' + rows.map((row) => `${csvLine(row)}\r\n`).join('');
}
