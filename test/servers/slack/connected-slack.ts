import type { TestContext } from 'node:test';
import type { ChannelEvent, Channel, OnEvent, Press } from '../../../src/core/channel.ts';
import type { Message } from '../../../src/core/message.ts';
import { createSlack } from '../../../src/channels/slack/create-slack.ts';
import type { SlackApp, SlackDeps, SlackSettings } from '../../../src/channels/slack/slack-options.ts';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import { noPartners } from './no-partners.ts';
import { startSlackServer, type SlackServer, type SlackServerOptions } from './start-slack-server.ts';
import { createWatch, type Watch } from './watch.ts';

export type LogLine = Readonly<{ level: keyof Log; fields: object; message: string }>;

/** A started Slack channel at a test server, both closed when the test ends. */
export type ConnectedSlack = Readonly<{
  slack: SlackServer;
  channel: Channel;
  events: Watch<ChannelEvent>;
  log: Watch<LogLine>;
  /** The first message event, past or to come, that matches. */
  message(matches?: (message: Message) => boolean): Promise<Message>;
  press(): Promise<Press>;
}>;

/** Names are waited for: the half second after which the bot does without is a minute here, for a machine may have much else to do. */
const patient: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms === 500 ? 60_000 : ms, signal),
};

type SlackOptions = SlackApp & SlackSettings & SlackDeps;

type Options = Readonly<{
  server?: SlackServerOptions;
  channel?: Partial<SlackOptions>;
  /** Takes each event before it is recorded; rejecting refuses it. */
  onEvent?: OnEvent;
}>;

export function watchLog(): { log: Log; lines: Watch<LogLine> } {
  const lines = createWatch<LogLine>();
  const at = (level: keyof Log) => (fields: object, message: string) => lines.add({ level, fields, message });
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}

/** What a channel at this server needs, by sockets; its log goes nowhere. */
export function slackOptions(slack: SlackServer): SlackOptions {
  return {
    botToken: slack.tokens.bot,
    appToken: slack.tokens.app,
    mode: 'socket',
    apiUrl: slack.url,
    command: '/skill',
    threadFollow: true,
    hasAnswered: async () => false,
    partners: noPartners,
    isAtWork: async () => false,
    paced: false,
    log: watchLog().log,
    clock: patient,
  };
}

export function createSlackChannel(options: SlackOptions): Channel {
  return createSlack(options, options, options);
}

/** `t`: the test whose end closes it, or whoever else calls what is given to `after`. */
export async function connectSlackChannel(
  t: Readonly<{ after(end: () => Promise<void>): void }> | TestContext,
  options: Options = {},
): Promise<ConnectedSlack> {
  const slack = await startSlackServer(options.server);
  const { log, lines } = watchLog();
  const events = createWatch<ChannelEvent>();
  const channel = createSlackChannel({
    ...slackOptions(slack),
    signingSecret: slack.signingSecret,
    listen: { host: '127.0.0.1', port: 0 },
    log,
    ...options.channel,
  });
  t.after(async () => {
    await channel.stop();
    await slack.close();
  });
  await channel.start(async (event) => {
    await options.onEvent?.(event);
    events.add(event);
  });
  if (options.channel?.mode === 'http') slack.deliverTo(await listeningUrl(lines));
  return {
    slack,
    channel,
    events,
    log: lines,
    async message(matches = () => true) {
      const event = await events.until((one) => one.type === 'message' && matches(one.message));
      if (event.type !== 'message') throw new Error('unreachable');
      return event.message;
    },
    async press() {
      const event = await events.until(({ type }) => type === 'press');
      if (event.type !== 'press') throw new Error('unreachable');
      return event.press;
    },
  };
}

async function listeningUrl(lines: Watch<LogLine>): Promise<string> {
  const { fields } = await lines.until(({ message }) => message === 'listening for Slack events');
  return (fields as { url: string }).url;
}
