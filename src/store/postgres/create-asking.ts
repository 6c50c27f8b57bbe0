/** Which channels are to be asked for lanes that are due: those that somebody named, and those that had more than there was room for. */
export type Asking = Readonly<{
  /** To be asked next; all of them where none is named. */
  want(names?: readonly string[]): void;
  /** There is room again: those that had more are to be asked. False where none had. */
  wantMore(): boolean;
  /** Whether any of them had more than there was room for. */
  crowded(): boolean;
  /** What is to be asked now, another one first each time, so that none takes all the room. */
  next(): readonly string[];
  /** What was learnt by asking one. */
  asked(channel: string, hasMore: boolean): void;
}>;

export function createAsking(channels: readonly string[]): Asking {
  const wanted = new Set(channels);
  const crowded = new Set<string>();
  const state = { first: 0 };

  return {
    want(names = channels) {
      for (const name of names) if (channels.includes(name)) wanted.add(name);
    },
    wantMore() {
      for (const name of crowded) wanted.add(name);
      return crowded.size > 0;
    },
    crowded: () => crowded.size > 0,
    next() {
      state.first = (state.first + 1) % Math.max(1, channels.length);
      const inTurn = [...channels.slice(state.first), ...channels.slice(0, state.first)];
      const now = inTurn.filter((channel) => wanted.has(channel));
      wanted.clear();
      return now;
    },
    asked(channel, hasMore) {
      if (hasMore) crowded.add(channel);
      else crowded.delete(channel);
    },
  };
}
