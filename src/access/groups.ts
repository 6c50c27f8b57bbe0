import type Keyv from 'keyv';
import type { ChatMigrations } from './chat-migrations.ts';
import type { AllowedGroup, Users } from './users.ts';
import type { AuditWriter } from '../audit/create-audit.ts';
import type { Channel, ChannelEvent } from '../core/channel.ts';
import { chatIdOf, type Conversation } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { createMutex } from '../lib/async/mutex.ts';
import type { Clock } from '../lib/clock.ts';
import { fixed, type Say } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { Replies } from '../replies/replies.ts';

type GroupVerdict = 'allow' | 'ignore';

/** What owners decided about groups that the config does not list (H13). */
export type Groups = Readonly<{
  /**
   * Returns the group's name if owners may be asked about it now, and remembers that they were. Undefined: they were
   * asked in the last hour, they ignore the group, or others caused too many questions. `byOwner`: an owner caused this
   * one.
   */
  mayAsk(place: Conversation, nameOf: () => Promise<string>, byOwner: boolean): Promise<string | undefined>;
  /** Stores an owner's decision. Undefined if nobody asked about this group, or another owner has decided. */
  decide(id: string, verdict: GroupVerdict, by: string): Promise<AllowedGroup | undefined>;
  ignored(): Promise<readonly AllowedGroup[]>;
  revoke(id: string): Promise<boolean>;
  /** Forgets that the group was allowed, so that adding the bot again asks again. */
  left(place: Conversation): Promise<void>;
}>;

const hourMs = 3_600_000;
const askedMs = 30 * 24 * hourMs;
/** How many questions per hour and channel people who are no owners can cause. */
const mostByOthers = 3;

type Asked = Readonly<{ name: string; at: number; byOwner: boolean }>;

type Deps = Readonly<{
  /** Holds asked and ignored groups; allowed groups are kept with the users. */
  stored: Keyv;
  users: Users;
  migrations: ChatMigrations;
  audit: AuditWriter;
  clock: Clock;
}>;

export function createGroups({ stored, users, migrations, audit, clock }: Deps): Groups {
  const inTurn = createMutex();

  async function idsOf(place: Conversation): Promise<readonly string[]> {
    return [chatIdOf(place), ...(await migrations.formerIds(place))];
  }

  const mayAsk: Groups['mayAsk'] = async (place, nameOf, byOwner) => {
    const ids = await idsOf(place);
    const ignored = await stored.getMany<unknown>(ids.map(ignoredKey));
    if (ignored.some((value) => value !== undefined)) return undefined;
    const now = clock.now();
    const recent = (await entriesOf<Asked>(stored, askedKey(''))).filter(([, { at }]) => at > now - hourMs);
    if (recent.some(([id]) => ids.includes(id))) return undefined;
    const byOthers = recent.filter(([id, asked]) => !asked.byOwner && id.startsWith(`${place.channel}:`));
    if (!byOwner && byOthers.length >= mostByOthers) return undefined;
    const asked: Asked = { name: await nameOf(), at: now, byOwner };
    await stored.set(askedKey(chatIdOf(place)), asked, askedMs);
    return asked.name;
  };

  async function disallow(ids: readonly string[]): Promise<boolean> {
    const gone = await Promise.all(ids.map((id) => users.disallowGroup(id)));
    return gone.includes(true);
  }

  return {
    mayAsk: (...asked) => inTurn(() => mayAsk(...asked)),
    async decide(id, verdict, by) {
      const asked = await stored.get<Asked>(askedKey(id));
      // `delete` is atomic, so that only one process decides (Q9).
      if (asked === undefined || !(await stored.delete(askedKey(id)))) return undefined;
      const group = { id, name: asked.name, since: clock.now() };
      if (verdict === 'allow') await users.allowGroup(group);
      else await stored.set(ignoredKey(id), group);
      const decided = verdict === 'allow' ? 'allowed' : 'ignored';
      await audit.record({ event: 'group', verdict: decided, conversation: id, by });
      return group;
    },
    async ignored() {
      return (await entriesOf<AllowedGroup>(stored, ignoredKey(''))).map(([, group]) => group);
    },
    async revoke(id) {
      const ids = await idsOf(placeOf(id));
      const wasAllowed = await disallow(ids);
      const wereIgnored = await Promise.all(ids.map((one) => stored.delete(ignoredKey(one))));
      if (!wasAllowed && !wereIgnored.includes(true)) return false;
      await audit.record({ event: 'group', verdict: 'revoked', conversation: id });
      return true;
    },
    async left(place) {
      // The bot did not leave: the group only got a new id.
      if ((await migrations.current(place)).chat !== place.chat) return;
      if (!(await disallow(await idsOf(place)))) return;
      await audit.record({ event: 'group', verdict: 'left', conversation: chatIdOf(place) });
    },
  };
}

/** The entries whose keys begin with `prefix`, with the rest of their keys. */
async function entriesOf<T>(stored: Keyv, prefix: string): Promise<readonly (readonly [string, T])[]> {
  const found: (readonly [string, T])[] = [];
  for await (const [key, value] of stored.iterator()) {
    if (String(key).startsWith(prefix)) found.push([String(key).slice(prefix.length), value as T]);
  }
  return found;
}

function placeOf(id: string): Conversation {
  const end = id.indexOf(':');
  return { channel: id.slice(0, end), chat: id.slice(end + 1) };
}

function askedKey(id: string): string {
  return `asked:${id}`;
}

function ignoredKey(id: string): string {
  return `ignored:${id}`;
}

/** Asks owners in private whether an unlisted group may use the bot (H13). */
export type MeetGroup = Readonly<{
  joined(event: Extract<ChannelEvent, { type: 'joined' }>): Promise<void>;
  spoken(message: Message): Promise<void>;
}>;

type Happened = (say: Say, group: string) => string;

export function createMeetGroup(options: {
  groups: Groups;
  users: Users;
  channels: ReadonlyMap<string, Channel>;
  replies: Replies;
  clock: Clock;
}): MeetGroup {
  const { groups, users, channels, replies, clock } = options;

  async function ask(place: Conversation, happened: Happened, byOwner: boolean): Promise<void> {
    const { channel, chat } = place;
    const id = chatIdOf(place);
    const nameOf = async () => (await channels.get(channel)?.lookUpChat({ channel, chat }))?.name ?? chat;
    const name = await groups.mayAsk({ channel, chat }, nameOf, byOwner);
    if (name === undefined) return;
    await replies.tellOwners(
      `group:${id}:${clock.now()}`,
      (say) =>
        `${happened(say, inlineCode(name))} ${say`It is not listed: id ${inlineCode(id)}. May people I know talk to me there?`}`,
      {
        buttons: [
          { label: fixed`Allow`, action: `group:allow:${id}` },
          { label: fixed`Ignore`, action: `group:ignore:${id}` },
        ],
      },
    );
  }

  async function isUnlisted(place: Conversation): Promise<boolean> {
    const [owner] = await users.owners();
    if (owner === undefined) return false;
    const decision = await users.mayAct({
      conversation: place,
      chatType: 'group',
      sender: { id: owner, kind: 'person' },
    });
    return !decision.allowed && decision.code === 'CHAT_NOT_ALLOWED';
  }

  return {
    async joined({ conversation, by }) {
      if (!(await isUnlisted(conversation))) return;
      const happened: Happened = (say, group) =>
        by === undefined ? say`I was added to ${group}.` : say`${called(by)} added me to ${group}.`;
      await ask(conversation, happened, by !== undefined && (await users.isOwner(by.id)));
    },
    async spoken({ addressed, conversation, sender }) {
      if (!addressed || sender.kind !== 'person' || !(await users.isOwner(sender.id))) return;
      await ask(conversation, (say, group) => say`${called(sender)} wrote to me in ${group}.`, true);
    },
  };
}

function called({ id, name }: Readonly<{ id: string; name: string }>): string {
  return `${inlineCode(name)} (\`${id}\`)`;
}
