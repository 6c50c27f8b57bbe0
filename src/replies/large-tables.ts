import type { Channel } from '../core/channel.ts';
import type { Message } from '../core/message.ts';
import type { DeliverArtifacts } from '../core/tool.ts';
import { shortenTables, type LargeTable } from '../lib/markdown/shorten-tables.ts';
import { sayIn } from '../core/texts/say.ts';
import { requesterOf } from '../core/requester-of.ts';

/** More tables of one answer stay as they are. */
const mostFiles = 5;

/**
 * Sends the tables of an answer that are too long for its channel as CSV files, ahead of it, and gives the answer with
 * a preview in the place of each (H2). Asked again for the same message it sends nothing twice. Where a file is not taken the
 * answer stays whole.
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
    // A file can't be shown to one person of a group.
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

/** As RFC 4180 has it, with the mark by which spreadsheets know UTF-8. No cell is a formula to them. */
export function asCsv(rows: LargeTable): string {
  return '\ufeff' + rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(text: string): string {
  const plain = /^[=@\t\r]|^[+-](?![\d.,\s%]*$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
