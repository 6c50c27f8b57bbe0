import { createRateLimiter, type RateLimiter } from '../rate-limiter.ts';
import { connectSlack, type SlackConnection } from './connect-slack.ts';
import { slackFits } from './from-markdown.ts';
import { captionFits, largestFile } from './files.ts';
import type { SlackIdentity, SlackOptions } from './slack-options.ts';
import type { Channel } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { OperatorError, SendError } from '../../core/errors.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';

export function createSlack(options: SlackOptions): Channel {
  const { paced, reserve, clock } = options;
  const paceOf = (what: string, count: number, ms: number): RateLimiter => {
    const shared = reserve && { name: `slack ${what}`, reserve };
    return createRateLimiter(paced ? [{ kind: 'bucket', count, ms, of: (key) => key }] : [], clock, shared);
  };
  const posts = paceOf('posts', 1, 1000);
  // Tier 3: some 50 a minute over the workspace.
  const edits = paceOf('edits', 10, 1200);
  // Tier 2, some 20: each start leaves room for a stop.
  const starts = paceOf('starts', 3, 4000);
  // Tier 4: some 100.
  const appends = paceOf('appends', 8, 650);
  // Tier 4.
  const homes = paceOf('homes', 10, 600);
  const state: { connection?: SlackConnection } = {};
  // Sends from before a restart wait, without a failed try.
  const begun = Promise.withResolvers<SlackConnection>();
  const connected = begun.promise;
  connected.catch(() => undefined);

  return {
    name: 'slack',
    async start(onEvent) {
      state.connection = await connectSlack(
        checked(options),
        { posts, edits, homes, starts, appends },
        onEvent,
      );
      begun.resolve(state.connection);
      await state.connection.open();
    },
    async stop() {
      begun.reject(new SendError('retry', 'Slack was not connected before the bot stopped'));
      await state.connection?.stop();
    },
    split: (markdown) => splitMarkdown(markdown, slackFits),
    files: { largest: largestFile, fitsCaption: captionFits, album: () => 'files' },
    tableRows: 60,
    send: async (...given) => (await connected).sender.send(...given),
    find: async (conversation, key) => (await connected).sender.find(conversation, key),
    edit: async (conversation, receipt, part) => (await connected).sender.edit(conversation, receipt, part),
    remove: async (conversation, receipt) => (await connected).sender.remove(conversation, receipt),
    async status(conversation, status, placeholder) {
      await state.connection?.status.show(conversation, status, placeholder);
    },
    fetchFile: async (...given) => (await connected).fetchFile(...given),
    fetchSmaller: async (...given) => (await connected).fetchSmaller(...given),
    membersOf: async (group) => (await connected).membersOf(group),
    readEarlier: async (...asked) => (await connected).readEarlier(...asked),
    // One registered command covers every skill (I1).
    setMenus: async () => [],
    async lookUpChat({ chat }) {
      const { absent: _, ...facts } = await (await connected).chats.lookUpNamed(chat);
      return facts;
    },
    command: (conversation, name, args) => writeCommand(state.connection?.me, conversation, name, args),
    directLink() {
      const me = state.connection?.me;
      if (me === undefined) return undefined;
      return me.appId === undefined
        ? `slack://user?team=${me.team}&id=${me.user}`
        : `https://slack.com/app_redirect?app=${me.appId}&team=${me.team}`;
    },
  };
}

function checked(options: SlackOptions): SlackOptions {
  const missing =
    options.mode === 'socket'
      ? [['app_token', options.appToken] as const]
      : [['signing_secret', options.signingSecret] as const, ['listen', options.listen] as const];
  const [first] = missing.filter(([, value]) => value === undefined || value === '');
  if (first !== undefined) {
    throw new OperatorError(`[slack] ${first[0]} is missing: mode = "${options.mode}" needs it`);
  }
  return options;
}

/** Threads take no slash command. */
export function writeCommand(
  me: Pick<SlackIdentity, 'command' | 'name'> = { command: '/skill' },
  { thread }: Pick<Conversation, 'thread'>,
  name: string,
  args?: string,
): string {
  // `/skill skill NAME` has a word too many.
  const words = `${name === 'skill' ? '' : name} ${args ?? ''}`.trim();
  if (thread === undefined) return `\`${me.command} ${words}\``;
  const bot = `@${me.name ?? 'bot'}`;
  return args === undefined ? `\`${bot} ${name}\`` : `\`${`${bot} /${name} ${args}`.trim()}\``;
}
