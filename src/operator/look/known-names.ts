import type { Desk } from '../../app.ts';
import { chatIdOf, placeOfKey, type Conversation } from '../../core/conversation.ts';
import { localDay } from '../../core/local-time.ts';

/** Names by qualified ids, such as `telegram:42`. They are for people to read: decisions use ids alone. */
export type KnownNames = Readonly<{
  people: Readonly<Record<string, string>>;
  chats: Readonly<Record<string, string>>;
}>;

/** Returns the names of these chats that are known now, and asks platforms for the others in the background. */
export type NameChats = (places: readonly Conversation[]) => ReadonlyMap<string, string>;

type Deps = Desk & Readonly<{ zone(): string; running?: Readonly<{ nameChats: NameChats }> }>;

/** Names of people who wrote or were approved, of groups that an owner decided on, and of chats that were busy today. */
export async function knownNames({
  store,
  users,
  groups,
  pairing,
  zone,
  running,
}: Deps): Promise<KnownNames> {
  const [heard, paired, pending, allowed, ignored, today] = await Promise.all([
    users.names(),
    users.paired(),
    pairing.pending(),
    users.allowedGroups(),
    groups.ignored(),
    store.usage({ day: localDay(Date.now(), zone()) }),
  ]);
  const busy = today.map(({ sender, conversation }) => ({ sender, place: placeOfKey(conversation) }));
  const shared = busy.flatMap(({ sender, place }) => (chatIdOf(place) === sender ? [] : [place]));
  return {
    people: Object.fromEntries([
      ...[...pending, ...paired].map(({ sender, name }) => [sender, name] as const),
      ...heard,
    ]),
    chats: Object.fromEntries([
      ...(running?.nameChats(shared) ?? []),
      ...[...ignored, ...allowed].map(({ id, name }) => [id, name] as const),
    ]),
  };
}

type LookUp = (place: Conversation) => Promise<Readonly<{ name?: string }> | undefined>;

/** How many chats are asked about, and so how many are remembered. */
const mostChats = 500;

/** Asks about each chat once, in the background: no page waits for a platform, and until then a chat has its id. */
export function createNameChats(lookUp: LookUp): NameChats {
  const names = new Map<string, string>();
  const asked = new Set<string>();
  return (places) => {
    for (const { channel, chat } of places) {
      const id = chatIdOf({ channel, chat });
      if (asked.has(id) || asked.size >= mostChats) continue;
      asked.add(id);
      lookUp({ channel, chat }).then(
        (found) => {
          if (found?.name !== undefined) names.set(id, found.name);
        },
        () => asked.delete(id),
      );
    }
    return names;
  };
}
