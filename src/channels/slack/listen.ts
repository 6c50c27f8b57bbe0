import type { App } from '@slack/bolt';
import type { Log } from '../../lib/log.ts';
import type { Intake } from './create-intake.ts';
import { formCallback } from './form-view.ts';

const said = ['message', 'app_mention'];
const membership = ['member_joined_channel', 'channel_left', 'group_left'];
const opened = 'app_home_opened';
const stopped = 'agent_session_stopped';

/** Passes each kind of event to its method. Bolt's `processEvent` rejects if one of these listeners does (Q1). */
export function listenToSlack(
  app: App,
  intake: Intake,
  { reactions, log }: Readonly<{ reactions: boolean; log: Log }>,
): void {
  const reacted = reactions ? ['reaction_added', 'reaction_removed'] : [];
  app.event(oneOf(said), ({ body }) => intake.said(body));
  app.event(oneOf(membership), ({ body }) => intake.joinedOrLeft(body));
  app.event(opened, ({ body }) => intake.visited(body));
  app.event(stopped, ({ body }) => intake.stopped(body));
  app.event(oneOf(reacted), ({ body }) => intake.reacted(body));
  app.event(noneOf([...said, ...membership, ...reacted, opened, stopped]), async ({ event }) =>
    log.debug({ reason: `unused event ${event.type}` }, 'Slack payload ignored'),
  );
  app.command(/^\//, async ({ body, ack }) => ack(await intake.called(body)));
  app.action(/./, async ({ body, ack }) => {
    await intake.pressed(body);
    await ack();
  });
  app.view(formCallback, async ({ body, ack }) => ack(await intake.filled(body)));
  app.error(async (error) => {
    throw error.original ?? error;
  });
}

function oneOf(types: readonly string[]): RegExp {
  return new RegExp(`^(${types.join('|')})$`);
}

function noneOf(types: readonly string[]): RegExp {
  return new RegExp(`^(?!(${types.join('|')})$)`);
}
