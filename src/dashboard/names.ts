import { chatIdOf, placeOfKey } from '../core/conversation.ts';
import { likelyType } from '../operator/access/question.ts';
import type { KnownNames } from '../operator/look/known-names.ts';

/** ShownNames of people and chats for one page. Undefined: only the id is known. */
export type ShownNames = Readonly<{
  person(id: string): string | undefined;
  /** The name of a chat by its qualified id, such as `telegram:-100`. */
  chat(id: string): string | undefined;
  /** A conversation by its key, as people speak of it. */
  place(key: string): string | undefined;
}>;

export function createNames({ people, chats }: KnownNames): ShownNames {
  const nameIn = (of: Readonly<Record<string, string>>, id: string): string | undefined =>
    Object.hasOwn(of, id) ? of[id] : undefined;
  const person: ShownNames['person'] = (id) =>
    id.startsWith('#') ? 'somebody who was forgotten' : nameIn(people, id);
  const chat: ShownNames['chat'] = (id) => {
    const known = nameIn(chats, id);
    if (known !== undefined) return known;
    const direct = person(id);
    return direct === undefined ? undefined : `direct message with ${direct}`;
  };
  return {
    person,
    chat,
    place(key) {
      const place = placeOfKey(key);
      const id = chatIdOf(place);
      const isDirect = likelyType(id) === 'private';
      const name = key.startsWith('#') ? 'a chat that was forgotten' : chat(id);
      if (name === undefined) return isDirect && !key.startsWith('telegram') ? 'direct message' : undefined;
      return place.thread === undefined || isDirect ? name : `${name} › thread`;
    },
  };
}
