import type { Channel } from '../core/channel.ts';
import { requesterOf, type Message } from '../core/message.ts';
import type { DeliverArtifacts } from '../core/tool.ts';
import { shortenTables, type LargeTable } from '../lib/markdown/shorten-tables.ts';
import { sayIn } from '../core/texts/say.ts';

/** More tables of one answer stay in it. */
const mostFiles = 5;

/**
 * Sends tables that are too long as CSV files, ahead of the answer, which keeps a preview of each (H2). Repeatable.
 * If a file is not accepted, the answer stays whole.
 */
export type SendLargeTables = (message: Message, markdown: string) => Promise<string>;

export function createLargeTables(options: {
  channels: ReadonlyMap<string, Channel>;
  deliverArtifacts: DeliverArtifacts;
  redact(): (text: string) => string;
}): SendLargeTables {
  const { channels, deliverArtifacts, redact } = options;

  return async (message, answer) => {
    const most = channels.get(message.conversation.channel)?.tableRows;
    // One person of a group can't get a file.
    if (most === undefined || message.ephemeral === true) return answer;
    const say = sayIn(message.sender.language);
    const { markdown, tables } = shortenTables(redact()(answer), most, (shown, table, index) => {
      const rows = table.length - 1;
      return say`The first ${shown} of ${rows} rows. The whole table is in ${nameOf(index)}.`;
    });
    if (tables.length > mostFiles) return answer;
    const requester = requesterOf(message);
    for (const [index, rows] of tables.entries()) {
      const file = { name: nameOf(index + 1), data: asCsv(rows), mime: 'text/csv' };
      const sent = await deliverArtifacts([file], {
        requester,
        turn: message.id,
        call: 'large tables',
        index,
      });
      if (sent[0]?.ok !== true) return answer;
    }
    return markdown;
  };
}

function nameOf(index: number): string {
  return index === 1 ? 'table.csv' : `table-${index}.csv`;
}

/** RFC 4180, with the UTF-8 mark for spreadsheets. No cell is a formula. */
export function asCsv(rows: LargeTable): string {
  return '\ufeff' + rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(text: string): string {
  const plain = /^[=@\t\r]|^[+-](?![\d.,\s%]*$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
