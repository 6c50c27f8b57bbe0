import { accessMutations } from './access.ts';
import { approvalMutations } from './approvals.ts';
import { evidenceMutations } from './evidence.ts';
import { serverMutations } from './servers.ts';
import { capabilityMutations } from './capabilities.ts';
import { forgettingMutations } from './forgetting.ts';
import { hookMutations } from './hooks.ts';
import { intakeMutations } from './intake.ts';
import { memoryMutations } from './memory.ts';
import { modelMutations } from './model.ts';
import type { Mutation } from './mutation.ts';
import { networkMutations } from './network.ts';
import { receivedFileMutations } from './received-files.ts';
import { recordMutations } from './records.ts';
import { redactionMutations } from './redaction.ts';
import { routineMutations } from './routines.ts';
import { sandboxMutations } from './sandbox.ts';
import { signInMutations } from './sign-ins.ts';
import { chatAgentMutations } from './chat-agent.ts';
import { streamingMutations } from './streaming.ts';
import { textMutations } from './text.ts';

/** All of them. New safety code adds its own. */
export const mutations: readonly Mutation[] = [
  ...accessMutations,
  ...routineMutations,
  ...textMutations,
  ...networkMutations,
  ...approvalMutations,
  ...capabilityMutations,
  ...receivedFileMutations,
  ...recordMutations,
  ...intakeMutations,
  ...memoryMutations,
  ...hookMutations,
  ...signInMutations,
  ...chatAgentMutations,
  ...streamingMutations,
  ...redactionMutations,
  ...modelMutations,
  ...sandboxMutations,
  ...forgettingMutations,
  ...serverMutations,
  ...evidenceMutations,
];
