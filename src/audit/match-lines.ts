import { isShared } from '../core/conversation.ts';
import { direct } from '../core/operation.ts';

/** Which lines somebody wants to see. A member that is undefined matches every line. */
export type AuditFilter = Readonly<{
  person?: string;
  skill?: string;
  /** Only lines at this ISO time or later. */
  since?: string;
  /** Only lines with this event, such as `tool_call` or `pairing`. */
  kind?: string;
}>;

type Line = Readonly<Record<string, unknown>>;

const people = ['sender', 'requester', 'by', 'approvedBy'];

/** Returns the matching lines unchanged and in their order. */
export function matchLines(lines: readonly string[], filter: AuditFilter): readonly string[] {
  const { person, skill, since, kind } = filter;
  if ([person, skill, since, kind].every((each) => each === undefined)) return lines;
  return lines.filter((text) => {
    const line = JSON.parse(text) as Line;
    return (
      (person === undefined || people.some((key) => line[key] === person)) &&
      (skill === undefined || line['skill'] === skill) &&
      (since === undefined || String(line['at']) >= since) &&
      (kind === undefined || line['event'] === kind)
    );
  });
}

/** A line of the audit without the arguments of calls in direct messages (L6). */
export function withoutDirectArguments(line: string): string {
  if (!line.includes('"arguments":')) return line;
  const read = JSON.parse(line) as Line;
  return isShared(read) || read['arguments'] === undefined
    ? line
    : JSON.stringify({ ...read, arguments: direct });
}
