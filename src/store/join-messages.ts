import type { Command, Message } from '../core/message.ts';

/** A message as it lies in an item; `glue` stands between its text and that of the messages before it. */
export type ItemPart = Readonly<{ message: Message; glue: string }>;

/** The one message that an item's parts make: an album, or a text that the client cut (H3). The first part gives id, sender and place. */
export function joinMessages(parts: readonly [ItemPart, ...ItemPart[]]): Message {
  const [first, ...rest] = parts;
  return rest.reduce((joined, { message, glue }) => append(joined, message, glue), first.message);
}

function append(joined: Message, next: Message, glue: string): Message {
  const command = joined.command === undefined ? next.command : continued(joined.command, next.text, glue);
  const replyTo = joined.replyTo ?? next.replyTo;
  const shared = both(joined.shared, next.shared);
  const hiddenLinks = both(joined.hiddenLinks, next.hiddenLinks);
  return {
    ...joined,
    external: joined.external || next.external,
    text: glued(joined.text, next.text, glue),
    addressed: joined.addressed || next.addressed,
    ...(command === undefined ? {} : { command }),
    attachments: [...joined.attachments, ...next.attachments],
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(shared === undefined ? {} : { shared }),
    ...(hiddenLinks === undefined ? {} : { hiddenLinks }),
  };
}

function both<Item>(before: readonly Item[] = [], after: readonly Item[] = []): readonly Item[] | undefined {
  return before.length + after.length === 0 ? undefined : [...before, ...after];
}

/** Text that the client cut off a command belongs to its arguments. */
function continued({ name, args }: Command, text: string, glue: string): Command {
  return { name, args: glued(args, text, glue) };
}

function glued(before: string, after: string, glue: string): string {
  return before === '' || after === '' ? before + after : before + glue + after;
}
