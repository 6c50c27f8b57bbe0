import type { Chat } from '../../servers/telegram/room.ts';
import type { Person } from '../../servers/telegram/person.ts';
import type { SlackUser, SlackRoom } from '../../servers/slack/workspace.ts';
import type { CrashStage } from './crash-stage.ts';
import type { Random } from './seeded-random.ts';

/** Whether the platform was told that something arrived: from then on it must not be lost. */
export type Accepted = () => boolean;

/** A conversation under load: who says something, and what the bot said. */
export type Place = Readonly<{
  name: string;
  platform: 'telegram' | 'slack';
  /** The platform's id of the chat. */
  chat: string;
  /** Has the message said by one of the people here. Resolves when the next may be said without the platform bringing them out of order. */
  say(text: string): Promise<Accepted>;
  /** Every text of the bot here, oldest first, what it deleted included. */
  heard(): readonly string[];
  /** Resolves when the bot says something more. */
  more(): Promise<unknown>;
}>;

type Telegram = CrashStage['telegram'];

/** What goes wrong on the way in: updates that come twice, messages that are edited at once. */
export type Mishaps = Readonly<{ random: Random; twice: number; edited: number }>;

export function telegramDm(stage: CrashStage, name: string, mishaps: Mishaps): Place {
  const person = stage.telegram.person({ name });
  return telegramPlace(stage.telegram, person.dm, {
    name,
    mishaps,
    who: () => person,
    words: (text) => text,
  });
}

/** Several people in one group: one conversation, in the order in which they spoke. */
export function telegramGroup(stage: CrashStage, name: string, mishaps: Mishaps): Place {
  const { telegram } = stage;
  const people = ['Ann', 'Ben', 'Cid'].map((each) => telegram.person({ name: `${each} of ${name}` }));
  return telegramPlace(telegram, telegram.group({ title: name }), {
    name,
    mishaps,
    who: () => mishaps.random.pick(people),
    words: (text) =>
      text.startsWith('/')
        ? text.replace(/^\/\w+/, `$&@${telegram.me.username}`)
        : `@${telegram.me.username} ${text}`,
  });
}

function telegramPlace(
  { queue, until }: Telegram,
  chat: Chat,
  how: Readonly<{ name: string; mishaps: Mishaps; who(): Person; words(text: string): string }>,
): Place {
  const { name, mishaps, who, words } = how;
  const { random } = mishaps;
  return {
    name,
    platform: 'telegram',
    chat: String(chat.id),
    async say(text) {
      const person = who();
      const id = person.says(words(text), { in: chat });
      const update = queue.waiting().at(-1);
      if (update === undefined) throw new Error('the bot did not ask for messages');
      if (random.chance(mishaps.twice)) queue.repeat(update);
      if (/^say /.test(text) && random.chance(mishaps.edited))
        person.edits(id, words(`${text} (changed)`), chat);
      return () => !queue.waiting().includes(update);
    },
    heard: () => chat.everSent().map(({ text }) => text),
    more() {
      // An answer may be the edit of a message that was there already.
      const texts = (): number => chat.everSent().reduce((sum, sent) => sum + sent.texts.length, 0);
      const sofar = texts();
      return until(`more in ${name}`, () => texts() > sofar);
    },
  };
}

export function slackDm(stage: CrashStage, name: string): Place {
  const user = stage.slack.workspace.addUser(name);
  const room = stage.slack.workspace.dmWith(user.id);
  return slackPlace(stage, room, name, (text) => stage.slack.people.dm(user, text), undefined);
}

/** A thread of a channel, each message a mention: both twins of each are delivered. */
export async function slackThread(stage: CrashStage, name: string): Promise<Place> {
  const { workspace, people } = stage.slack;
  const users: readonly SlackUser[] = [workspace.addUser(`${name}-a`), workspace.addUser(`${name}-b`)];
  const room = workspace.addRoom('channel', { name, members: users.map(({ id }) => id) });
  const root = people.post(users[0] as SlackUser, room, 'a thread');
  let turn = 0;
  return slackPlace(
    stage,
    room,
    name,
    (text) => people.mention(users[turn++ % 2] as SlackUser, room, text, { thread: root.ts }),
    root.ts,
  );
}

function slackPlace(
  { slack }: CrashStage,
  room: SlackRoom,
  name: string,
  says: (text: string) => ReturnType<CrashStage['slack']['people']['dm']>,
  thread: string | undefined,
): Place {
  const bot = slack.workspace.bot.user;
  return {
    name,
    platform: 'slack',
    chat: room.id,
    async say(text) {
      // Slack brings what it could not deliver again later: only what was acknowledged has its place in the order.
      const delivered = await says(text).delivered;
      const acked = delivered.some((each) => each.acked);
      return () => acked;
    },
    heard: () =>
      room.messages
        .filter(({ user, threadTs }) => user === bot && threadTs === thread)
        .map(({ text }) => text),
    more: () => slack.changes.untilCount(slack.changes.all().length + 1),
  };
}
