/**
 * Name of the channel by which a queue is served. For queues beside conversations it ends in `~`, so that long runs
 * take no capacity from answers (Q3, U9).
 */
export function queueChannel(queue: string): string {
  const channel = queue.slice(0, queue.indexOf(':'));
  return queue.includes('~') ? `${channel}~` : channel;
}
