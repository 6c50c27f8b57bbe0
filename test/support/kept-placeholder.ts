import type { Placeholder, Receipt } from '../../src/core/channel.ts';

/** A placeholder whose receipt is kept in memory. */
export type KeptPlaceholder = Placeholder &
  Readonly<{
    /** What was kept so far. */
    receipts: readonly Receipt[];
    /** The first receipt, past or to come. */
    first: Promise<Receipt>;
  }>;

export function keptPlaceholder(
  more: Partial<Pick<Placeholder, 'key' | 'replyTo' | 'asked'>> & {
    stored?: Receipt;
    keepFails?: Error;
  } = {},
): KeptPlaceholder {
  const { key = 'item#0!status', stored, keepFails, replyTo, asked } = more;
  const receipts: Receipt[] = [];
  const first = Promise.withResolvers<Receipt>();
  return {
    key,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(asked === undefined ? {} : { asked }),
    posted: async () => receipts.at(-1) ?? stored,
    async keep(receipt) {
      if (keepFails !== undefined) throw keepFails;
      if (receipt === undefined) return void receipts.splice(0);
      receipts.push(receipt);
      first.resolve(receipt);
    },
    receipts,
    first: first.promise,
  };
}
