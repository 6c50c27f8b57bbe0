import { slackUserGroups } from '../config/people-groups.ts';
import type { AccessInForce } from '../operator/access/access-decisions.ts';
import { createAvailability } from '../runs/requirements.ts';
import type { Ground } from './create-app.ts';

/** What access is decided by at the moment of a question. */
export function createAccessInForce({ app, userGroups, written }: Ground): () => Promise<AccessInForce> {
  const availability = createAvailability(app.skillSandbox.available);
  return async () => {
    const { config, access, rules, models } = app.runtime();
    const { contextWindow } = models.get(config.agent.model);
    return {
      ...{ config, access, rules, contextWindow },
      registry: app.library.current(),
      isHere: availability(),
      userGroups: { names: slackUserGroups(written()), membersOf: userGroups.membersOf },
    };
  };
}
