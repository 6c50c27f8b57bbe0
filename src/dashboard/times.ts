/** How times are written for one page. */
export type Times = Readonly<{
  /** As people say it at a glance, such as `5 min ago`, `in 3 h` or `14 Nov`. */
  relative(at: number): string;
  /** With the weekday, seconds and the zone, such as `Sat, 28 Nov 2026, 23:35:10 Europe/Zurich`. */
  exact(at: number): string;
  /** How long something lasts or lasted, such as `850 ms`, `12 s` or `3 min`. */
  length(ms: number): string;
}>;

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** Writes times in the operator's zone. Steps are whole minutes, so that a live page does not change each second. */
export function createTimes(now: number, zone: string): Times {
  const exact = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  });
  const date = new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric', month: 'short' });
  const dated = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, day: 'numeric', month: 'short', year: 'numeric' },
  });
  return {
    relative(at) {
      const gap = Math.abs(now - at);
      if (gap < minuteMs) return at > now ? 'in less than a minute' : 'just now';
      const said = spanOf(gap);
      if (said !== undefined) return at > now ? `in ${said}` : `${said} ago`;
      return (gap < 200 * dayMs ? date : dated).format(at);
    },
    exact: (at) => `${exact.format(at)} ${zone}`,
    length: (ms) =>
      ms < 1_000
        ? `${Math.round(ms)} ms`
        : ms < minuteMs
          ? `${Math.round(ms / 1_000)} s`
          : (spanOf(ms) ?? ''),
  };
}

/** Undefined: so long that a date says more. */
function spanOf(ms: number): string | undefined {
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)} h`;
  return ms < 14 * dayMs ? `${Math.floor(ms / dayMs)} days` : undefined;
}
