/** What all parts of one document may have together: bytes when unpacked, and tags and pieces of text (S15). */
const most = { bytes: 20_000_000, tokens: 2_000_000 };

/** Counts what one document makes its reader do, over all of its parts. */
export type Budget = Readonly<{
  /** How many bytes the next part may have when it is unpacked. */
  bytesLeft(): number;
  unpacked(bytes: number): void;
  /** Counts one token. False once the document has none left. */
  token(): boolean;
  /** Notes that something of the document was not read. */
  leaveOut(): void;
  isWhole(): boolean;
}>;

export function createBudget(): Budget {
  let { bytes, tokens } = most;
  let whole = true;
  return {
    bytesLeft: () => bytes,
    unpacked: (count) => void (bytes -= count),
    token() {
      tokens -= 1;
      if (tokens < 0) whole = false;
      return tokens >= 0;
    },
    leaveOut: () => void (whole = false),
    isWhole: () => whole,
  };
}
