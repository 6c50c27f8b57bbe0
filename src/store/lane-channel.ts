/** The channel of a lane. Lanes beside conversations end in `~`, so long runs take no room from answers (Q3, U9). */
export function laneChannel(lane: string): string {
  const channel = lane.slice(0, lane.indexOf(':'));
  return lane.includes('~') ? `${channel}~` : channel;
}
