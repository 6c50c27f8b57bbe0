import type { Outage } from './store-health.ts';

/** What the owners are told after an outage (Q11), under a key that makes it one message an hour at most. */
export function outageNotice({ from, to, reason }: Outage): Readonly<{ key: string; markdown: string }> {
  const [begin, end] = [from, to].map(
    (at) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
  );
  return {
    key: `store:${new Date(to).toISOString().slice(0, 13)}`,
    markdown: `My store could not be used from ${begin} to ${end}: \`${reason.replaceAll('`', "'")}\`. It works again. I continue where I stopped, and answer what was sent to me meanwhile.`,
  };
}
