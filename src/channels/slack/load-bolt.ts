import type * as Bolt from '@slack/bolt';

export type BoltParts = Pick<typeof Bolt, 'App' | 'HTTPReceiver' | 'SocketModeReceiver'>;

/** A sixth of a second and 8 MB. The front door loads Express too: 4 MB (B4). */
export async function loadBolt(): Promise<BoltParts> {
  const [app, http, socket] = await Promise.all([
    import('@slack/bolt/dist/App.js'),
    import('@slack/bolt/dist/receivers/HTTPReceiver.js'),
    import('@slack/bolt/dist/receivers/SocketModeReceiver.js'),
  ]);
  return {
    App: app.default.default,
    HTTPReceiver: http.default.default,
    SocketModeReceiver: socket.default.default,
  };
}
