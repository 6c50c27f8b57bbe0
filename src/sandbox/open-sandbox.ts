import { OperatorError } from '../core/errors.ts';
import type { Sandbox, SandboxMode } from './sandbox.ts';
import { createVirtualSandbox } from './virtual.ts';

/** The sandbox of `[sandbox] mode`; `auto` takes the best one there is (T9). Throws OperatorError for one that is not there. */
export function openSandbox(
  mode: 'auto' | SandboxMode,
  limits: Readonly<{ memoryMb?: number; diskMb?: number }> = {},
): Sandbox {
  if (mode === 'auto' || mode === 'virtual') return createVirtualSandbox(limits);
  throw new OperatorError(
    `[sandbox] mode = "${mode}" is not offered by this version: write "auto" or "virtual" (scripts in a shell in memory, without network)`,
  );
}
