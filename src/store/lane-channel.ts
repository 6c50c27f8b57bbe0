/**
 * Name of the channel by which a queue is served. For queues beside conversations it ends in `~`, so that long runs
 * take no capacity from answers (Q3, U9).
 */
export function laneChannel(lane: string): string {
  const channel = lane.slice(0, lane.indexOf(':'));
  return lane.includes('~') ? `${channel}~` : channel;
}
