import type * as Bolt from '@slack/bolt';

/** The parts of Bolt that the bot runs. */
export type BoltParts = Pick<typeof Bolt, 'App' | 'HTTPReceiver' | 'SocketModeReceiver'>;

/**
 * Loads Bolt for a bot that has Slack: a sixth of a second and 8 MB. Taken file by file, because its front door also loads
 * receivers for other servers with all of Express: 4 MB that nobody uses (B4).
 */
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
