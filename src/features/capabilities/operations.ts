import { z } from 'zod';
import { changes, noInput, reads, textInput } from '../../core/operation.ts';
import type { CapabilityOperations } from './capability-base.ts';

const account = z.object({ sender: textInput, capability: textInput, ref: textInput });

/** What operators can do about capabilities and linked accounts (L1). */
export function capabilityOperations(capabilities: CapabilityOperations) {
  return {
    'capability list': reads(noInput, () => capabilities.list()),
    'capability accounts': reads(noInput, () => capabilities.accounts()),
    'capability revoke': changes(account, async (of) => {
      await capabilities.revoke(of);
      return { revoked: true };
    }),
  };
}
