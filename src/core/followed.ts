/**
 * A skill whose instructions the main agent has been given to follow itself, from here to the end of the turn (U8, T6).
 * It stands on the transcript entry that gives them, so that a turn that goes on after a crash is bound as before.
 */
export type Followed = Readonly<{
  skill: string;
  /** Its `allowed_tools` as they were read then; absent where nothing is narrowed. */
  allowedTools?: readonly string[];
}>;
