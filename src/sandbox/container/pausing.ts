import type { Deadline } from '../../lib/async/deadline.ts';
import type { ServeCap } from '../sandbox.ts';

/** `skillet-cap` with the time of the command standing still while the host works, which may be waiting for a person. */
export function pausing(serve: ServeCap | undefined, deadline: Deadline): Readonly<{ cap?: ServeCap }> {
  if (serve === undefined) return {};
  return { cap: (words, input, signal) => deadline.pause(() => serve(words, input, signal)) };
}
