import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { createHooks } from './receive-hook.ts';

/** Events from outside that begin a turn in a chat (N7). */
export const hooks = { create: createHooksFeature };

function createHooksFeature(app: App): Feature {
  const { config, store, users, membersKnown } = app;
  const received = createHooks({
    ...app,
    hooks: () => config().hooks,
    bodies: store.keyed('hooks'),
    users: { ...users, known: membersKnown },
  });
  return {
    name: 'hooks',
    receiveHook: received.receive,
    ready: received.start,
    stop: received.stop,
  };
}
