/** A day and time as a model is told them: `2026-01-02 (Friday), 13:04 Europe/Zurich`. `zone`: an IANA name. */
export function localTime(at: number, zone: string): string {
  const of = partsOf(at, zone);
  return `${of('year')}-${of('month')}-${of('day')} (${of('weekday')}), ${of('hour')}:${of('minute')} ${zone}`;
}

/** The zone of this machine. */
export function systemZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function isZone(zone: string): boolean {
  try {
    return partsOf(0, zone)('year') !== '';
  } catch {
    return false;
  }
}

function partsOf(at: number, timeZone: string): (type: Intl.DateTimeFormatPartTypes) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return (type) => parts.get(type) ?? '';
}
