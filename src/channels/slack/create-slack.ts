import { createRateLimiter, type RateLimiter } from '../rate-limiter.ts';
import { connectSlack, type SlackConnection } from './connect-slack.ts';
import { splitForSlack } from './from-markdown.ts';
import { slackCaptionFits, largestSlackFile } from './files.ts';
import {
  usualThumbs,
  type SlackApp,
  type SlackDeps,
  type SlackIdentity,
  type SlackPaces,
  type SlackSettings,
} from './slack-options.ts';
import type { Channel } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { OperatorError, SendError } from '../../core/errors.ts';
import { createMarkdownTask } from '../../lib/markdown/long-markdown.ts';
import { splitPlain } from '../../lib/markdown/split-markdown.ts';

export function createSlack(app: SlackApp, settings: SlackSettings, deps: SlackDeps): Channel {
  const paces = createPaces(settings, deps);
  const state: { connection?: SlackConnection } = {};
  // Sends from before a restart wait for the connection and count no failed try.
  const begun = Promise.withResolvers<SlackConnection>();
  const connected = begun.promise;
  connected.catch(() => undefined);
  const split = createMarkdownTask(new URL('./split-worker', import.meta.url), {
    read: splitForSlack,
    plain: splitPlain,
    log: deps.log,
  });

  return {
    name: 'slack',
    async start(onEvent) {
      checkApp(app);
      state.connection = await connectSlack({ app, settings, paces, deps, onEvent });
      begun.resolve(state.connection);
      await state.connection.open();
    },
    async stop() {
      begun.reject(new SendError('retry', 'Slack was not connected before the bot stopped'));
      await state.connection?.stop();
    },
    split: (markdown) => split({ markdown }),
    files: { largest: largestSlackFile, fitsCaption: slackCaptionFits, album: () => 'files' },
    tableRows: settings.agentView === true ? 100 : 60,
    send: async (...given) => (await connected).sender.send(...given),
    find: async (conversation, key) => (await connected).sender.find(conversation, key),
    edit: async (conversation, receipt, part) => (await connected).sender.edit(conversation, receipt, part),
    remove: async (conversation, receipt) => (await connected).sender.remove(conversation, receipt),
    async status(conversation, status, placeholder) {
      await state.connection?.status.show(conversation, status, placeholder);
    },
    showsPlan: ({ chat, thread }) =>
      settings.agentView === true && thread !== undefined && chat.startsWith('D'),
    showWork:
      settings.agentView === true
        ? (...given) =>
            void connected.then(
              ({ agent }) => agent?.showWork(...given),
              () => undefined,
            )
        : undefined,
    fetchFile: async (...given) => (await connected).fetchFile(...given),
    fetchSmaller: async (...given) => (await connected).fetchSmaller(...given),
    hasMember: async (...asked) => (await connected).hasMember(...asked),
    membersOf: async (group) => (await connected).membersOf(group),
    readEarlier: async (...asked) => (await connected).readEarlier(...asked),
    // Slack has one registered command for all skills (I1).
    setMenus: async () => [],
    async lookUpChat({ chat }) {
      const { absent: _, ...facts } = await (await connected).chats.lookUpNamed(chat);
      return facts;
    },
    command: (conversation, name, args) => writeSlackCommand(state.connection?.me, conversation, name, args),
    messageLink: (conversation, id) => messageLink(state.connection?.me.url, conversation, id),
    thumbs: usualThumbs(settings.agentView),
    hasForms: true,
    directLink: () => state.connection && directLink(state.connection.me),
  };
}

function messageLink(
  workspace: string | undefined,
  { chat, thread }: Conversation,
  id: string,
): string | undefined {
  if (workspace === undefined || !/^\d+\.\d+$/.test(id)) return undefined;
  const of = thread === undefined || thread === id ? '' : `?thread_ts=${thread}&cid=${chat}`;
  return new URL(`archives/${chat}/p${id.replace('.', '')}${of}`, workspace).href;
}

function directLink({ appId, team, user }: SlackIdentity): string {
  return appId === undefined
    ? `slack://user?team=${team}&id=${user}`
    : `https://slack.com/app_redirect?app=${appId}&team=${team}`;
}

function createPaces({ paced }: SlackSettings, { reserve, clock }: SlackDeps): SlackPaces {
  const paceOf = (what: string, count: number, ms: number): RateLimiter => {
    const shared = reserve && { name: `slack ${what}`, reserve };
    return createRateLimiter(paced ? [{ kind: 'bucket', count, ms, of: (key) => key }] : [], clock, shared);
  };
  return {
    posts: paceOf('posts', 1, 1000),
    // Slack's tier 3 allows about 50 a minute in a workspace.
    edits: paceOf('edits', 10, 1200),
    // Tier 2 allows about 20, and each start needs a stop.
    starts: paceOf('starts', 3, 4000),
    // Tier 4 allows about 100 a minute.
    appends: paceOf('appends', 8, 650),
    homes: paceOf('homes', 10, 600),
  };
}

function checkApp({ mode, appToken, signingSecret, listen }: SlackApp): void {
  const needed = mode === 'socket' ? { app_token: appToken } : { signing_secret: signingSecret, listen };
  const missing = Object.entries(needed).find(([, value]) => value === undefined || value === '');
  if (missing === undefined) return;
  throw new OperatorError(`[slack] ${missing[0]} is missing: mode = "${mode}" needs it`);
}

/** Writes a command. In a thread it is a mention, because slash commands do not work there. */
export function writeSlackCommand(
  me: Pick<SlackIdentity, 'command' | 'name'> = { command: '/skill' },
  { thread }: Pick<Conversation, 'thread'>,
  name: string,
  args?: string,
): string {
  // `/skill skill NAME` would have a word too many.
  const words = `${name === 'skill' ? '' : name} ${args ?? ''}`.trim();
  if (thread === undefined) return `\`${me.command} ${words}\``;
  const bot = `@${me.name ?? 'bot'}`;
  return args === undefined ? `\`${bot} ${name}\`` : `\`${`${bot} /${name} ${args}`.trim()}\``;
}
