/**
 * What a lane is served under: the name of its channel; with `~` behind it for the lanes beside the channel's conversations,
 * so that long work in those takes no room from the answers in these (Q3, U9).
 */
export function laneChannel(lane: string): string {
  const channel = lane.slice(0, lane.indexOf(':'));
  return lane.includes('~') ? `${channel}~` : channel;
}
