/** Lanes of one kind of work (messages to answer, parts to send), each given to one taker at a time, whichever process that is in (Q9). */
export type ServeOptions = Readonly<{
  /** Channels whose lanes this process can work in; with `~` behind a name, the lanes beside that channel's conversations. */
  channels: readonly string[];
  /** Lanes side by side. */
  concurrency: number;
  /**
   * Works on the head of a lane once. Called for every lane with something due, oldest first, and again as long as
   * something of it is due. `lost` is aborted when another process may have the lane by now: what is written under it
   * after that is refused. Must not reject: then the lane is given out again after a second.
   */
  run(lane: string, lost: AbortSignal): Promise<void>;
}>;

export type Serving = Readonly<{
  /** Looks for due lanes now. */
  wake(): void;
  /** Resolves when no lane is being worked in here and none that is served here is due. */
  idle(): Promise<void>;
  /** Gives out nothing more, at once; resolves when what was given out has ended. */
  stop(): Promise<void>;
}>;
