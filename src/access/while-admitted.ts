import { fixed } from '../core/texts/say.ts';
import type { Decision } from './decide-message.ts';
import { ModelError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import type { Requester } from '../core/tool.ts';
import type { Users } from './users.ts';

/** Whether the person that something is done for may still use the bot (S11). */
export type StillAdmitted = (requester: Requester) => Promise<Decision<'TOOL_POLICY_DENIED'>>;

export function createStillAdmitted(users: Users): StillAdmitted {
  return async ({ sender: id, kind, conversation, chatType }) => {
    const may = await users.mayAct({ conversation, chatType, sender: { id, kind } });
    if (may.allowed) return may;
    return { allowed: false, code: 'TOOL_POLICY_DENIED', reason: may.reason, hint: noLonger };
  };
}

const noLonger = fixed`This person no longer has access to the bot.`;

/**
 * Returns the model with a check before each request: it throws ModelError if the requester is no longer admitted
 * (S11).
 */
export function whileAdmitted(model: Model, requester: Requester, stillAdmitted: StillAdmitted): Model {
  return {
    ...model,
    async complete(...asked) {
      const may = await stillAdmitted(requester);
      if (!may.allowed) throw new ModelError(may.reason, { sentence: noLonger, passing: false });
      return model.complete(...asked);
    },
  };
}
