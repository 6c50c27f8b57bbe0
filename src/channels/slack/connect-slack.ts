import { fixed, type Words } from '../../core/texts/say.ts';
import type * as Bolt from '@slack/bolt';
import { slackErrorCode, type CallSlack } from './slack-error.ts';
import { createAgentView, type AgentView } from './create-agent-view.ts';
import { createChatLookup, createNameLookup, hasMember, membersOf, type ChatLookup } from './look-up.ts';
import { createHttpReceiver } from './create-http-receiver.ts';
import { createIntake } from './create-intake.ts';
import { createSender, type SlackSender } from './create-sender.ts';
import { createShowHome } from './create-show-home.ts';
import { createSocketReceiver } from './create-socket-receiver.ts';
import { createStreams } from './create-stream.ts';
import { createStatus, type StatusBoard } from './create-status.ts';
import { escapeText } from './plain-text.ts';
import { createSlackFetchFile } from './files.ts';
import { toFormView } from './form-view.ts';
import { identify, missedScopes, neededScopes } from './identify.ts';
import { listenToSlack } from './listen.ts';
import { loadBolt } from './load-bolt.ts';
import { openThread, type Presser } from './open-thread.ts';
import { readEarlier } from './read-earlier.ts';
import { storeFirst } from './store-first.ts';
import {
  takesReactions,
  userOf,
  type SlackApi,
  type SlackApp,
  type SlackDeps,
  type SlackIdentity,
  type SlackPaces,
  type SlackSettings,
} from './slack-options.ts';
import { toSlackLogger } from './slack-log.ts';
import type { Channel, OnEvent } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import type { Log } from '../../lib/log.ts';

/** A connection that can send at once, and receives events once it is opened. */
export type SlackConnection = Readonly<{
  me: SlackIdentity;
  sender: SlackSender;
  status: StatusBoard;
  chats: ChatLookup;
  fetchFile: Channel['fetchFile'];
  fetchSmaller: Channel['fetchFile'];
  membersOf: NonNullable<Channel['membersOf']>;
  hasMember: NonNullable<Channel['hasMember']>;
  readEarlier: NonNullable<Channel['readEarlier']>;
  /** Sessions of the agent view. Undefined if `[slack] agent_view` is off. */
  agent: AgentView | undefined;
  open(): Promise<void>;
  stop(): Promise<void>;
}>;

/** Connects to Slack. Throws OperatorError for tokens that can't work. */
export async function connectSlack(options: ConnectOptions): Promise<SlackConnection> {
  const { app, settings, paces, onEvent } = options;
  const { log, clock } = options.deps;
  const { agentView = false, reaction } = settings;
  const bolt = await loadBolt();
  const client = new bolt.webApi.WebClient(app.botToken, {
    ...clientOptions(app),
    logger: toSlackLogger(log),
  });
  const call: CallSlack = async (method, args) => ({ ...(await client.apiCall(method, { ...args })) });
  const me = { ...(await identify(call, settings.command, log, clock)), agentView };
  const chats = createChatLookup(call, log, clock);
  const api = { call, me, chats, names: createNameLookup(call, log, clock) };
  const unstoppable = (): void => void tellUnstoppable(onEvent, log);
  const bot = new bolt.App({
    authorize: async () => ({ botToken: app.botToken, botId: me.botId, botUserId: me.user, teamId: me.team }),
    receiver: storeFirst(createReceiver(bolt, app, options.deps)),
    logger: toSlackLogger(log),
    clientOptions: clientOptions(app),
    // Edits and deletions of the bot's own messages have to be told from those of people, too.
    ignoreSelf: false,
    convoStore: false,
  });
  const agent = agentView ? createAgentView({ call, clock, log, unstoppable }) : undefined;
  const intake = createIntake(intakeOptions(api, agent, options));
  listenToSlack(bot, intake, { reactions: takesReactions(settings.feedback, agentView), log });
  const sender = createSender(api, paces, log);
  const openStream = agentView ? createStreams({ call, clock, ...paces }) : undefined;
  const mark = reaction === undefined;
  const status = createStatus({ call, sender, paces, openStream, log, clock, mark });
  return {
    me,
    chats,
    status,
    sender,
    fetchFile: createSlackFetchFile(call, app),
    fetchSmaller: createSlackFetchFile(call, app, true),
    membersOf: (group) => membersOf(call, group),
    hasMember: ({ chat }, person) => hasMember(call, chat, userOf(person)),
    readEarlier: (message, bounds) => readEarlier(api, message, bounds),
    agent,
    async open() {
      await bot.start();
      // The log warns of a missing scope for user groups once a list needs it (A13).
      const features = {
        agentView: agentView === true,
        reaction: !mark,
        ratings: takesReactions(settings.feedback, agentView),
        userGroups: false,
      };
      if (me.scopes !== undefined) await tellMissing(missedScopes(me.scopes, features), onEvent, log);
    },
    async stop() {
      await bot.stop();
      await status.clear();
      await agent?.settled();
    },
  };
}

type ConnectOptions = Readonly<{
  app: SlackApp;
  settings: SlackSettings;
  paces: SlackPaces;
  deps: SlackDeps;
  onEvent: OnEvent;
}>;

function intakeOptions(
  api: SlackApi,
  agent: AgentView | undefined,
  { settings, paces, deps, onEvent }: ConnectOptions,
): Parameters<typeof createIntake>[0] {
  const { call, me, chats, names } = api;
  const { log, clock } = deps;
  const { reaction } = settings;
  return {
    me,
    chats,
    names,
    onEvent,
    threads: { ...deps, threadFollow: settings.threadFollow },
    actions: {
      openThread: (asked, shown) => openThread(call, paces.posts, asked, shown),
      react: reaction === undefined ? undefined : createReact(call, reaction, log),
      tell: (press, words) => tellAlone(call, press, words),
      async openForm(form, trigger) {
        await call('views.open', { trigger_id: trigger, view: toFormView(form) });
      },
      agent,
      showHome: createShowHome(call, paces.homes, log),
    },
    log,
    clock,
  };
}

async function tellMissing(missing: readonly string[], onEvent: OnEvent, log: Log): Promise<void> {
  if (missing.length === 0) return;
  log.warn({ missing }, 'the Slack token lacks scopes: add them, then install the app again');
  const markdown: Words = (say) =>
    [
      say`My Slack app lacks scopes. Without them this fails:`,
      '',
      ...missing.map((scope) => `- \`${scope}\`: ${say(neededScopes.get(scope) ?? '')}`),
      '',
      say`At api.slack.com/apps, under OAuth & Permissions, add them to the Bot Token Scopes, then install the app again.`,
    ].join('\n');
  await onEvent({ type: 'notice', key: `slack:scopes:${missing.join()}`, markdown }).catch((error: unknown) =>
    log.warn({ err: error }, 'could not notify the owners of missing scopes'),
  );
}

async function tellUnstoppable(onEvent: OnEvent, log: Log): Promise<void> {
  const key = 'slack:stop';
  await onEvent({ type: 'notice', key, markdown: stopNotice }).catch((error: unknown) =>
    log.warn({ err: error }, 'the owners could not be told of the missing stop button'),
  );
}

const stopNotice = fixed`Slack shows no stop button while I work, because my app does not hear of it. At api.slack.com/apps, under Event Subscriptions, add the bot event \`agent_session_stopped\`, then install the app again.`;

function createReceiver(bolt: typeof Bolt, app: SlackApp, { log, clock }: SlackDeps): Bolt.Receiver {
  const { mode, appToken = '', signingSecret = '', listen = { host: '127.0.0.1', port: 3000 } } = app;
  return mode === 'http'
    ? createHttpReceiver(bolt, { signingSecret, listen, log, clock })
    : createSocketReceiver(bolt, { appToken, clientOptions: clientOptions(app), log, clock });
}

/** Options of the SDK. Its own retries could post twice, so the outbox decides about them (Q6). */
function clientOptions({ apiUrl }: SlackApp): Bolt.webApi.WebClientOptions {
  return {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 30_000,
  };
}

/** Shows plain words only to the person who pressed. Rejects if Slack refuses. */
async function tellAlone(call: CallSlack, press: Presser, words: string): Promise<void> {
  const { conversation, sender, receipt } = press;
  const { chat, thread } = conversation;
  await call('chat.postEphemeral', {
    channel: chat,
    // They would not be seen in a thread that has no messages yet.
    thread_ts: thread === undefined || thread === receipt?.id ? undefined : thread,
    user: userOf(sender.id),
    text: escapeText(words),
  });
}

/** Returns how to add the receipt reaction (H13). Nothing waits for it. */
function createReact(call: CallSlack, name: string, log: Log): (message: Message) => void {
  return ({ conversation, platformId }) => {
    if (platformId === undefined) return;
    call('reactions.add', { channel: conversation.chat, timestamp: platformId, name }).catch(
      (error: unknown) => {
        const code = slackErrorCode(error);
        const level = code === 'invalid_name' ? 'warn' : 'debug';
        log[level](
          { err: code === undefined ? error : undefined, code, name },
          'a reaction could not be set',
        );
      },
    );
  };
}
