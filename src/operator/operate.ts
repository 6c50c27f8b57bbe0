import { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import type { Store, UsageRow } from '../store/store.ts';
import type { ApprovalOutcome, SkillApprovals } from '../authoring/approve-skill.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { CapabilityOperations } from '../capabilities/capability-base.ts';
import type { Operate } from '../channels/terminal/control.ts';
import type { ForgetSomebody } from './forget-somebody.ts';
import { listRules, type StandingRules } from '../approvals/standing-rules.ts';
import type { McpOperations } from '../mcp/mcp-operations.ts';
import type { Groups } from '../conversations/intake/groups.ts';
import type { Pairing, PairingRequest } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';
import { removePlaceholder } from '../conversations/progress.ts';

/** The operator's commands on the store, the same whether a bot runs or not (Q9). */
export function createOperate(options: {
  store: Pick<Store, 'inbox' | 'outbox' | 'commit' | 'backup' | 'usage'>;
  users: Users;
  pairing: Pairing;
  groups: Pick<Groups, 'ignored' | 'revoke'>;
  welcome(request: PairingRequest): Promise<void>;
  forget: ForgetSomebody;
  approvals: SkillApprovals;
  rules: Pick<StandingRules, 'list' | 'revoke'>;
  mcp: McpOperations;
  capabilities: CapabilityOperations;
  audit: Audit;
}): Operate {
  const { store, users, pairing, groups, welcome, forget, approvals, rules, mcp, capabilities, audit } =
    options;
  const { inbox } = store;

  async function drop(key: string): Promise<boolean> {
    const items = [...(await inbox.list('waiting')), ...(await inbox.list('dead'))];
    const item = items.find((one) => one.key === key);
    // Before its end: if this is cut off, it can be said again.
    if (item !== undefined) await removePlaceholder(item, store);
    return inbox.drop(key);
  }

  return async (operation, argument, onProgress) => {
    switch (operation) {
      case 'pair list':
        return {
          pending: await pairing.pending(),
          paired: await users.paired(),
          owners: await users.owners(),
          groups: await users.allowedGroups(),
          ignored: await groups.ignored(),
        };
      case 'pair claim':
        if ((await users.owners()).length > 0)
          throw new OperatorError('this bot has an owner: others are named under [bot] owner in config.toml');
        return { claim: `start claim_${await pairing.newOwnerToken()}` };
      case 'pair approve': {
        const request = found(await pairing.approve(argument), argument);
        await welcome(request);
        return request;
      }
      case 'pair deny':
        return found(await pairing.deny(argument), argument);
      case 'pair revoke':
        if (!(await pairing.revoke(argument)) && !(await groups.revoke(argument)))
          throw new OperatorError(
            `${argument} is neither paired nor a group that was decided on: see \`skillet pair list\``,
          );
        return { revoked: argument };
      case 'inbox list':
        return inbox.list(argument === 'waiting' ? 'waiting' : 'dead');
      case 'inbox retry':
        if (!(await inbox.retry(argument)))
          throw new OperatorError(`there is no dead letter ${argument}: see \`skillet inbox list\``);
        return { retried: argument };
      case 'outbox list':
        return store.outbox.givenUp();
      case 'outbox retry':
        if (!(await store.outbox.revive(argument)))
          throw new OperatorError(`there is no failed delivery ${argument}: see \`skillet outbox list\``);
        return { retried: argument };
      case 'inbox drop':
        if (!(await drop(argument)))
          throw new OperatorError(`no message waits or failed under ${argument}: see \`skillet inbox list\``);
        return { dropped: argument };
      case 'backup':
        await store.backup(argument, onProgress);
        return { backup: argument };
      case 'forget':
        return forget(argument);
      case 'stats':
        return usageSince(store, argument);
      case 'policy list':
        return listRules(await rules.list(), await mcp.editions());
      case 'policy revoke': {
        const gone = await rules.revoke(argument);
        if (gone === undefined)
          throw new OperatorError(`there is no rule ${argument}: see \`skillet policy list\``);
        return gone;
      }
      case 'mcp list':
        return mcp.list();
      case 'mcp agree':
        return mcp.agree(argument);
      case 'capability list':
        return capabilities.list();
      case 'capability accounts':
        return capabilities.accounts();
      case 'capability revoke':
        await capabilities.revoke(account.parse(JSON.parse(argument)));
        return { revoked: true };
      case 'audit tail':
        return audit.tail(Number(argument));
      case 'audit verify':
        return audit.verify();
      case 'skills installed':
      case 'skills removed':
        return audit.record({
          event: operation === 'skills installed' ? 'skills_installed' : 'skills_removed',
          ...installed.parse(JSON.parse(argument)),
        });
      case 'skill written':
        return approvals.records();
      case 'skill enable':
        return decided(await approvals.enable(argument));
      case 'skill discard':
        return decided(await approvals.discard(argument));
    }
  };
}

/** Sums of a day (`2026-11-22`, UTC) and of those after it. */
async function usageSince(store: Pick<Store, 'usage'>, day: string): Promise<readonly UsageRow[]> {
  return (await store.usage({})).filter((row) => row.day >= day);
}

/** What the command line did with installed skills, told to the audit. */
const installed = z.object({
  source: z.string(),
  commit: z.string().optional(),
  skills: z.array(z.string()),
});

const account = z.object({ sender: z.string(), capability: z.string(), ref: z.string() });

function decided(outcome: ApprovalOutcome): ApprovalOutcome {
  const { name } = outcome;
  if (outcome.outcome === 'unknown')
    throw new OperatorError(
      `${name} is no skill that the bot wrote: those are switched by [skills.${name}] enabled in the config`,
    );
  if (outcome.outcome === 'changed')
    throw new OperatorError(`${name} was changed by hand since the bot wrote it: delete its folder yourself`);
  return outcome;
}

function found(request: PairingRequest | undefined, code: string): PairingRequest {
  if (request === undefined)
    throw new OperatorError(
      `${code} is no valid pairing code (they last an hour): see \`skillet pair list\``,
    );
  return request;
}
