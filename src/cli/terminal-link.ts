import { z } from 'zod';
import { connectControl } from '../channels/terminal/control.ts';
import { readJsonLines, writeJsonLine } from '../channels/terminal/json-lines.ts';
import { createPeer, type Answers } from '../channels/terminal/peer.ts';
import type { TerminalRequest } from '../operator/terminals/take-terminal.ts';
import type { Told, View } from '../operator/terminals/terminals.ts';
import { storedPart, storedReceipt } from '../store/stored-message.ts';

/** A running bot, as a terminal of it sees it (Q9). Whatever asks it rejects once the bot has ended. */
export type TerminalLink = Readonly<{
  names(): Promise<readonly string[]>;
  tell(told: Told): Promise<void>;
  idle(): Promise<void>;
  cancel(): Promise<boolean>;
  /** Whether everything was answered. */
  leave(): Promise<boolean>;
  /** Resolves when the bot has ended, or the link was closed. */
  ended: Promise<void>;
  close(): void;
}>;

const shown = z.object({ receipt: storedReceipt, part: storedPart });
const withPath = z.object({ file: z.object({ path: z.string() }).optional() });
const sent = z.object({ part: z.intersection(storedPart, withPath), key: z.string() });
const receiptOnly = z.object({ receipt: storedReceipt });
const status = z.object({
  status: z
    .union([
      z.object({ kind: z.literal('typing') }),
      z.object({ kind: z.literal('line'), text: z.string() }),
      z.object({ kind: z.literal('words'), markdown: z.string() }),
    ])
    .optional(),
});
/** A view knows no other conversation than its own. */
const here = { channel: 'terminal', chat: '' };

/** Becomes a terminal of the bot that runs on this socket; `undefined` when none does. What it shows goes to `view` once that is there. */
export async function openTerminalLink(
  socketPath: string,
  who: TerminalRequest,
  view: Promise<View>,
): Promise<TerminalLink | undefined> {
  const socket = await connectControl(socketPath);
  if (socket === undefined) return undefined;
  const answers: Answers = {
    send: async (line) => {
      const { part, key } = sent.parse(line);
      return (await view).send(here, part, key);
    },
    edit: async (line) => {
      const { receipt, part } = shown.parse(line);
      await (await view).edit(here, receipt, part);
    },
    remove: async (line) => (await view).remove(here, receiptOnly.parse(line).receipt),
    status: async (line) => (await view).status(here, status.parse(line).status),
  };
  const peer = createPeer(socket, answers);
  // A connection that breaks has ended: there is nothing else to do about it.
  socket.on('error', () => socket.destroy());
  readJsonLines(socket, peer.take);
  writeJsonLine(socket, { terminal: who });
  return {
    names: async () => z.array(z.string()).parse(await peer.ask('names')),
    async tell(told) {
      await peer.ask('tell', told);
    },
    async idle() {
      await peer.ask('idle');
    },
    cancel: async () => z.boolean().parse(await peer.ask('cancel')),
    leave: async () => z.boolean().parse(await peer.ask('leave')),
    ended: peer.ended,
    close: () => socket.destroy(),
  };
}
