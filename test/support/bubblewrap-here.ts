import { probeBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { sandboxLimits } from './sandbox-limits.ts';

const probe = await probeBubblewrap({ limits: sandboxLimits });

/** Where bwrap is, and why tests that need it are skipped where it doesn't work. */
export const bubblewrapHere: Readonly<{ bwrap: string; skip: string | false }> = probe.ok
  ? { bwrap: probe.bwrap, skip: false }
  : { bwrap: '', skip: probe.why };

/** Ends a config of a machine that lacks nothing. */
export const sandboxHere = probe.ok ? '' : '[sandbox]\nmode = "virtual"\n';
