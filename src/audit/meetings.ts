import { z } from 'zod';
import { parseJson } from '../lib/json/json-values.ts';

/** `room`: key of the conversation, without its thread. */
export type Meeting = Readonly<{ sender: string; room: string }>;

const privateLine = z.object({
  sender: z.string(),
  conversation: z.string(),
  chatType: z.literal('private'),
});

/** `ids` by the names that lines use. Somebody forgotten keeps the name, so that they are still somebody else. */
export function meetingsIn(lines: string, ids: ReadonlyMap<string, string>): readonly Meeting[] {
  return lines.split('\n').flatMap((line) => {
    const { data } = privateLine.safeParse(parseJson(line));
    const place = data && ids.get(data.conversation);
    return data === undefined || place === undefined
      ? []
      : [{ sender: ids.get(data.sender) ?? data.sender, room: place.replace(/\/.*$/, '') }];
  });
}
