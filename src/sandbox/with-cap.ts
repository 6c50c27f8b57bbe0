import type { Sandbox, ServeCap } from './sandbox.ts';

/** The same sandbox, whose commands have `skillet-cap` (C4). */
export function withCap(sandbox: Sandbox, cap: ServeCap): Sandbox {
  return { ...sandbox, run: (request) => sandbox.run({ ...request, cap }) };
}
