import { slackUserGroups } from '../config/people-groups.ts';
import type { AccessInForce } from '../operator/access/access-decisions.ts';
import { createAvailability } from '../runs/requirements.ts';
import type { BotParts } from './bot.ts';
import type { Base } from './create-base.ts';

/** What access is decided by at the moment of a question. */
export function createAccessInForce(
  { host, userGroups, written }: Pick<Base, 'host' | 'userGroups' | 'written'>,
  { library, skillSandbox }: Pick<BotParts, 'library' | 'skillSandbox'>,
): () => Promise<AccessInForce> {
  const availability = createAvailability(skillSandbox.available);
  return async () => {
    const { config, access, rules, models } = host.runtime();
    const { contextWindow } = models.get(config.agent.model);
    return {
      ...{ config, access, rules, contextWindow },
      registry: library.current(),
      isHere: availability(),
      userGroups: { names: slackUserGroups(written()), membersOf: userGroups.membersOf },
    };
  };
}
