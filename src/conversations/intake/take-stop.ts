import type { App } from '../../app.ts';
import type { ChannelEvent } from '../../core/channel.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { FeatureParts } from '../parts-of-features.ts';
import { stopTurn } from '../stop-turn.ts';

export type StopEvent = Extract<ChannelEvent, { type: 'stop' }>;

/**
 * Ends what a stop button belongs to, if this person may end it now (S11, U15). It resolves once that is stored, so a
 * process that ends before the turn does ends it after the restart. A refusal is told only to the person.
 */
export async function takeStop(
  { stop, tell }: StopEvent,
  { users, store, workStates, log, features }: App & Readonly<{ features: FeatureParts }>,
): Promise<void> {
  const { sender, conversation } = stop;
  const may = await users.mayAct(stop);
  if (!may.allowed) {
    log.warn({ sender: sender.id, code: may.code }, 'somebody pressed stop who is not admitted');
    return tell?.(sayIn(sender.language)`You don’t have access to this bot. Ask its operator for it.`);
  }
  const said = await stopTurn(stop, {
    isOwner: await users.isOwner(sender.id),
    store,
    onStopped: (cancelled) => features.stopped({ sender: sender.id, conversation, cancelled }),
  });
  log.info({ sender: sender.id, said }, 'a stop button was pressed');
  if (said !== '') tell?.(said);
  await workStates.refresh(conversation);
}
