import type { Socket } from 'node:net';
import { z } from 'zod';
import type { TakeTerminal } from '../../channels/terminal/control.ts';
import { createPeer } from '../../channels/terminal/peer.ts';
import type { AccessSettings } from '../../core/access-settings.ts';
import type { Receipt, Status } from '../../core/channel.ts';
import { chatTypes, type Conversation } from '../../core/conversation.ts';
import type { Seat, Terminals, Told, View } from './terminals.ts';
import { storedReceipt } from '../../store/stored-message.ts';

/** Who types in a terminal, unless `--user` says otherwise. */
export const terminalOwner = 'owner';

/** Who asks to be a terminal, as the first line says it. */
export const terminalRequest = z.object({
  user: z.string().min(1).max(200),
  as: z.enum(chatTypes),
  patient: z.boolean(),
});
export type TerminalRequest = Readonly<z.output<typeof terminalRequest>>;

/** What was typed or chosen there. */
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

/** Gives terminals that come through the control socket a seat: what the bot shows goes to them, what they type comes from them. */
export function createTakeTerminal(options: {
  terminals: Pick<Terminals, 'sit'>;
  /** Names that `/` can be completed to. */
  names(): readonly string[];
  /** For messages that were given up while somebody waited: nobody needs to see to them later. */
  drop(key: string): Promise<void>;
}): TakeTerminal {
  const { terminals, names, drop } = options;

  return (socket: Socket, asked: unknown) => {
    const who = terminalRequest.parse(asked);
    const peer = createPeer(socket, {
      names: async () => names(),
      tell: async (line) => seat.tell(told.parse(line)),
      idle: () => seat.idle(),
      cancel: () => seat.cancel(),
      async leave() {
        const { lost, unanswered } = seat.leave();
        for (const key of lost) await drop(key);
        return lost.length === 0 && !unanswered;
      },
    });
    const view: View = {
      send: async (_, part, key): Promise<Receipt> =>
        storedReceipt.parse(await peer.ask('send', { part, key })),
      async edit(_, receipt, part) {
        await peer.ask('edit', { receipt, part });
      },
      async remove(_, receipt) {
        await peer.ask('remove', { receipt });
      },
      async status(_: Conversation, status: Status | undefined) {
        // A courtesy: a terminal that has gone shows nothing.
        await peer.ask('status', status === undefined ? {} : { status }).catch(() => undefined);
      },
    };
    const seat: Seat = terminals.sit(who, view);
    void peer.ended.then(seat.leave);
    return peer.take;
  };
}

/**
 * The access rules with those of terminals (A9, H5): the terminal's owner owns the bot, and the rooms a terminal pretends to
 * be in are allowed ones. Only the control socket (0600) and the process's own terminal make senders of that kind.
 */
export function terminalAccess(access: AccessSettings, channel: string): AccessSettings {
  const rooms = { ...access.channels.get(channel), groupsMode: 'open' } as const;
  return {
    ...access,
    owners: [...access.owners, `terminal:${terminalOwner}`],
    channels: new Map([...access.channels, [channel, rooms]]),
  };
}
