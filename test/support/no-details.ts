import type { ApprovalDetails } from '../../src/features/approvals/approval-details.ts';

/** Questions of direct messages, which show everything themselves. */
export const noDetails: ApprovalDetails = {
  show: async () => undefined,
  wereShown: async () => false,
  outcomes: async () => [],
  forget: async () => undefined,
};
