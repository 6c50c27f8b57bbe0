/**
 * Takes bytes cut anywhere and gives whole lines, without their ends. Throws RangeError where a line is over `limit` bytes; every
 * byte is looked at once.
 */
export function splitLines(limit: number): (chunk: Buffer) => readonly string[] {
  let rest: Buffer[] = [];
  let size = 0;

  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8'));
      rest = [];
      size = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > limit) throw new RangeError(`a message of more than ${limit} bytes`);
    return lines;
  };
}
