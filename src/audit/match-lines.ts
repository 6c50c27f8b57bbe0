/** What somebody wants to see of the audit. Absent: everything. */
export type AuditFilter = Readonly<{
  person?: string;
  skill?: string;
  /** ISO time. */
  since?: string;
  /** The event: `tool_call`, `pairing`. */
  kind?: string;
}>;

type Line = Readonly<Record<string, unknown>>;

const people = ['sender', 'requester', 'by', 'approvedBy'];

/** Lines as they were recorded, in their order. */
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
