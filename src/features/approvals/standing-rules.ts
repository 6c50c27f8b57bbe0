import { createHash } from 'node:crypto';
import type Keyv from 'keyv';
import type { AuditEvent } from '../../audit/audit-event.ts';
import type { AuditWriter } from '../../audit/create-audit.ts';
import { mayStand, type StandingRule } from '../../core/approval.ts';
import { serverToolPrefix } from '../../core/tool.ts';

export type KeptRule = StandingRule & Readonly<{ id: string; by: string; since: number }>;

/**
 * Standing approvals. They replace the action of a risk, but never a rule of the policy and never a `critical` risk.
 */
export type StandingRules = Readonly<{
  covers(rule: StandingRule): Promise<boolean>;
  add(rule: StandingRule, by: string, at: number): Promise<void>;
  list(): Promise<readonly KeptRule[]>;
  revoke(id: string): Promise<KeptRule | undefined>;
  /** Removes rules for a person and rules that they gave (Q12). */
  forget(sender: string): Promise<void>;
}>;

export function createStandingRules(options: { stored: Keyv; audit: AuditWriter }): StandingRules {
  const { stored, audit } = options;

  async function list(): Promise<readonly KeptRule[]> {
    const found: KeptRule[] = [];
    for await (const [, value] of stored.iterator()) found.push(value as KeptRule);
    return found.sort((a, b) => a.since - b.since);
  }

  return {
    list,
    covers: async (rule) => mayStand(rule.tool) && (await stored.has(idOf(rule))),
    async add(rule, by, at) {
      const kept: KeptRule = { ...rule, id: idOf(rule), by, since: at };
      // The audit comes first: a crash may leave an extra line in it, but never a rule that it does not know.
      await audit.record(auditOf(kept, 'added'));
      await stored.set(kept.id, kept);
    },
    async revoke(id) {
      const kept = await stored.get<KeptRule>(id);
      if (kept === undefined || !(await stored.delete(id))) return undefined;
      await audit.record(auditOf(kept, 'revoked'));
      return kept;
    },
    async forget(sender) {
      for (const rule of await list())
        if (rule.sender === sender || rule.by === sender) await stored.delete(rule.id);
    },
  };
}

function idOf({ tool, definitionHash, skill, files, chat, sender }: StandingRule): string {
  const of = definitionHash === undefined ? [] : [definitionHash];
  const bound = JSON.stringify([tool, skill ?? '', files ?? '', chat, sender, ...of]);
  return createHash('sha256').update(bound).digest('hex').slice(0, 12);
}

function auditOf({ tool, skill, sender, by }: KeptRule, verdict: 'added' | 'revoked'): AuditEvent {
  return { event: 'standing_rule', verdict, tool, skill, sender, by };
}

/** `counts` is false if the tool is not the one that the rule was given for. */
type ListedRule = KeptRule & Readonly<{ counts: boolean }>;

/**
 * Rules do not count for `bash`, nor if a tool of an MCP server changed (T8). `definitionHashes` are hashes of current
 * definitions by name.
 */
export function listRules(
  rules: readonly KeptRule[],
  definitionHashes: ReadonlyMap<string, string>,
): readonly ListedRule[] {
  return rules.map((rule) => {
    const { tool, definitionHash } = rule;
    const isBound = definitionHash !== undefined || tool.startsWith(serverToolPrefix);
    const isSame =
      !isBound || (definitionHash !== undefined && definitionHashes.get(tool) === definitionHash);
    return { ...rule, counts: isSame && mayStand(tool) };
  });
}
