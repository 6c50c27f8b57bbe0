import { z } from 'zod';
import { parseJson } from '../lib/json/json-values.ts';

/** A person and their direct messages. `room` is the key of the conversation without its thread. */
export type Meeting = Readonly<{ sender: string; room: string }>;

const privateLine = z.object({
  sender: z.string(),
  conversation: z.string(),
  chatType: z.literal('private'),
});

/**
 * Finds the direct messages in the lines. `ids` maps pseudonyms to ids. Somebody forgotten keeps the pseudonym, so that
 * they still differ from others.
 */
export function meetingsIn(lines: string, ids: ReadonlyMap<string, string>): readonly Meeting[] {
  return lines.split('\n').flatMap((line) => {
    const { data } = privateLine.safeParse(parseJson(line));
    const place = data && ids.get(data.conversation);
    return data === undefined || place === undefined
      ? []
      : [{ sender: ids.get(data.sender) ?? data.sender, room: place.replace(/\/.*$/, '') }];
  });
}
