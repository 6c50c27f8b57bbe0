import type Keyv from 'keyv';
import type { Clock } from '../../lib/clock.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import { createInTurn } from '../../lib/async/mutex.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { MovedChats } from '../../access/chat-migrations.ts';
import type { AllowedGroup, People } from '../../access/users.ts';

export type GroupVerdict = 'allow' | 'ignore';

/** What owners decide over groups that the config does not list (H13). Ids are qualified. */
export type Groups = Readonly<{
  /** The group's name where owners may be asked now, which is remembered; else nothing is looked up. `byOwner`: one of them caused it. */
  mayAsk(place: Conversation, nameOf: () => Promise<string>, byOwner: boolean): Promise<string | undefined>;
  /** What an owner said when asked; `undefined` where nobody is asked, or somebody decided already. */
  decide(id: string, verdict: GroupVerdict, by: string): Promise<AllowedGroup | undefined>;
  ignored(): Promise<readonly AllowedGroup[]>;
  /** Takes back what was decided; false where nothing was. */
  revoke(id: string): Promise<boolean>;
  /** The bot is no longer in a group: whoever adds it again does not inherit what was allowed. */
  left(place: Conversation): Promise<void>;
}>;

const hourMs = 3_600_000;
/** A question that nobody answers goes after so long: its buttons mean nothing then. */
const askedMs = 30 * 24 * hourMs;
/** Questions an hour that people who are not owners can cause on a channel. */
const mostByOthers = 3;

type Asked = Readonly<{ name: string; at: number; byOwner: boolean }>;

/** `stored` has a key for each group; what is allowed stands with the people, who are judged with it. */
export function createGroups(options: {
  stored: Keyv;
  people: Pick<People, 'allowGroup' | 'disallowGroup'>;
  moved: MovedChats;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
}): Groups {
  const { stored, people, moved, audit, clock } = options;
  const inTurn = createInTurn();

  async function idsOf(place: Conversation): Promise<readonly string[]> {
    return [chatIdOf(place), ...(await moved.formerIds(place))];
  }

  async function every<T>(prefix: string): Promise<readonly (readonly [string, T])[]> {
    const found: (readonly [string, T])[] = [];
    for await (const [key, value] of stored.iterator()) {
      if (String(key).startsWith(prefix)) found.push([String(key).slice(prefix.length), value as T]);
    }
    return found;
  }

  const mayAsk: Groups['mayAsk'] = async (place, nameOf, byOwner) => {
    const ids = await idsOf(place);
    const ignored = await stored.getMany<unknown>(ids.map(ignoredKey));
    if (ignored.some((value) => value !== undefined)) return undefined;
    const now = clock.now();
    const recent = (await every<Asked>(askedKey(''))).filter(([, { at }]) => at > now - hourMs);
    if (recent.some(([id]) => ids.includes(id))) return undefined;
    const byOthers = recent.filter(([id, asked]) => !asked.byOwner && id.startsWith(`${place.channel}:`));
    if (!byOwner && byOthers.length >= mostByOthers) return undefined;
    const name = await nameOf();
    const asked: Asked = { name, at: now, byOwner };
    await stored.set(askedKey(chatIdOf(place)), asked, askedMs);
    return name;
  };

  async function disallow(ids: readonly string[]): Promise<boolean> {
    const gone = await Promise.all(ids.map((id) => people.disallowGroup(id)));
    return gone.includes(true);
  }

  return {
    mayAsk: (...asked) => inTurn(() => mayAsk(...asked)),
    async decide(id, verdict, by) {
      const asked = await stored.get<Asked>(askedKey(id));
      // Taking the question away is one step, whichever process does it (Q9).
      if (asked === undefined || !(await stored.delete(askedKey(id)))) return undefined;
      const group = { id, name: asked.name, since: clock.now() };
      if (verdict === 'allow') await people.allowGroup(group);
      else await stored.set(ignoredKey(id), group);
      const said = verdict === 'allow' ? 'allowed' : 'ignored';
      await audit.record({ event: 'group', verdict: said, conversation: id, by });
      return group;
    },
    async ignored() {
      return (await every<AllowedGroup>(ignoredKey(''))).map(([, group]) => group);
    },
    async revoke(id) {
      const ids = await idsOf(placeOf(id));
      const were = [
        await disallow(ids),
        ...(await Promise.all(ids.map((one) => stored.delete(ignoredKey(one))))),
      ];
      if (!were.includes(true)) return false;
      await audit.record({ event: 'group', verdict: 'revoked', conversation: id });
      return true;
    },
    async left(place) {
      // A group that got a new id lives on under that.
      if ((await moved.current(place)).chat !== place.chat) return;
      if (!(await disallow(await idsOf(place)))) return;
      await audit.record({ event: 'group', verdict: 'left', conversation: chatIdOf(place) });
    },
  };
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
