/** One Web API call; rejects with the SDK's own error. Nothing is retried here: whoever calls decides what may go twice. */
export type CallSlack = (
  method: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>;

/** A field of an answer that must be text. Throws where Slack left it out. */
export function textOf(answer: Readonly<Record<string, unknown>>, field: string): string {
  const value = answer[field];
  if (typeof value !== 'string' || value === '') throw new Error(`Slack answered without ${field}`);
  return value;
}
