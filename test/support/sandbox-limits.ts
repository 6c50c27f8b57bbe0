import type { SandboxLimits } from '../../src/sandbox/sandbox.ts';

/** What a command may use in tests that are not about limits. */
export const sandboxLimits: SandboxLimits = {
  memoryMb: 1_024,
  cpuSeconds: 60,
  processes: 128,
  diskMb: 1_024,
};
