/**
 * Has things ended when this process ends, by one listener however many they are. What must be ended says so, and gets back how
 * to take that back; `end` has to do its work at once.
 */
export function createAtExit(): (end: () => void) => () => void {
  const ends = new Set<() => void>();
  const endAll = (): void => ends.forEach((end) => end());
  return (end) => {
    if (ends.size === 0) process.once('exit', endAll);
    ends.add(end);
    return () => {
      ends.delete(end);
      if (ends.size === 0) process.removeListener('exit', endAll);
    };
  };
}
