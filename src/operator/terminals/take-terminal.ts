import type { Socket } from 'node:net';
import { z } from 'zod';
import type { TakeTerminal } from '../../channels/terminal/control.ts';
import { createPeer } from '../../channels/terminal/peer.ts';
import { terminalOwnerId, type AccessSettings } from '../../core/access-settings.ts';
import type { Receipt, ChatStatus } from '../../core/channel.ts';
import { chatTypes, type Conversation } from '../../core/conversation.ts';
import type { AnswerSpending } from '../../channels/terminal/answer-cost.ts';
import type { Seat, Seated, Terminals, Told, TerminalView } from './terminals.ts';
import { storedReceipt } from '../../store/stored-message.ts';

const terminalChannel = 'terminal';

const terminalRequest = z.object({
  user: z.string().min(1).max(200),
  as: z.enum(chatTypes),
  patient: z.boolean(),
});
export type SpentBy = (who: Seated) => Promise<AnswerSpending>;
export type TerminalRequest = Readonly<z.output<typeof terminalRequest>>;

const told: z.ZodType<Told> = z.union([
  z.object({
    message: z.object({
      id: z.string(),
      text: z.string(),
      command: z.object({ name: z.string(), args: z.string() }).optional(),
      sentAt: z.number(),
    }),
  }),
  z.object({ press: z.object({ id: z.string(), action: z.string(), receipt: storedReceipt }) }),
]);

export function createTakeTerminal(options: {
  terminals: Terminals;
  /** Names of commands and skills, for the completion of `/`. */
  names(): readonly string[];
  spent: SpentBy;
  drop(key: string): Promise<void>;
}): TakeTerminal {
  const { terminals, names, spent, drop } = options;

  return (socket: Socket, asked: unknown) => {
    const who = terminalRequest.parse(asked);
    const peer = createPeer(socket, {
      names: async () => names(),
      spent: () => spent(who),
      tell: async (line) => seat.tell(told.parse(line)),
      idle: () => seat.idle(),
      cancel: () => seat.cancel(),
      async leave() {
        const { lost, unanswered } = seat.leave();
        for (const key of lost) await drop(key);
        return lost.length === 0 && !unanswered;
      },
    });
    const view: TerminalView = {
      send: async (_, part, key): Promise<Receipt> =>
        storedReceipt.parse(await peer.ask('send', { part, key })),
      async edit(_, receipt, part) {
        await peer.ask('edit', { receipt, part });
      },
      async remove(_, receipt) {
        await peer.ask('remove', { receipt });
      },
      async status(_: Conversation, status: ChatStatus | undefined) {
        // A status may be lost: a terminal that has gone shows nothing.
        await peer.ask('status', status === undefined ? {} : { status }).catch(() => undefined);
      },
    };
    const seat: Seat = terminals.sit(who, view);
    void peer.ended.then(seat.leave);
    return peer.take;
  };
}

/**
 * Access with rules for terminals: the terminal's owner owns the bot, and its rooms are allowed (A9, H5). Only the
 * control socket (0600) and the process's own terminal make such senders.
 */
export function terminalAccess(access: AccessSettings, channel = terminalChannel): AccessSettings {
  // Questions about terminals name no machine, so the plain name counts, too.
  const rooms = [channel, terminalChannel].map(
    (name) => [name, { ...access.channels.get(name), groupsMode: 'open' }] as const,
  );
  return {
    ...access,
    owners: [...access.owners, terminalOwnerId],
    channels: new Map([...access.channels, ...rooms]),
  };
}
