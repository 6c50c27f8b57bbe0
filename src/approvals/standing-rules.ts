import { createHash } from 'node:crypto';
import type Keyv from 'keyv';
import type { AuditEvent } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import { serverToolPrefix } from '../core/built-in-tools.ts';

/** Allowed for good by "Always" (T8): calls of this very tool and these very files, for this person in this chat. */
export type StandingRule = Readonly<{
  tool: string;
  /** Of a tool that somebody else can change (X7). */
  edition?: string;
  /** Absent for the main agent. */
  skill?: string;
  /** Hash of the skill's files. */
  files?: string;
  /** A thread belongs to its chat. */
  chat: string;
  sender: string;
}>;

export type KeptRule = StandingRule & Readonly<{ id: string; by: string; since: number }>;

/** A yes to one command line says nothing of the next. */
export function mayStand(tool: string): boolean {
  return tool !== 'bash';
}

/** They replace what `[policy]` says of a risk, never a rule of its own, and never for `critical` calls. */
export type StandingRules = Readonly<{
  covers(rule: StandingRule): Promise<boolean>;
  add(rule: StandingRule, by: string, at: number): Promise<void>;
  list(): Promise<readonly KeptRule[]>;
  revoke(id: string): Promise<KeptRule | undefined>;
  /** Rules for, and by, this person (Q12). */
  forget(sender: string): Promise<void>;
}>;

export function createStandingRules(options: { stored: Keyv; audit: Pick<Audit, 'record'> }): StandingRules {
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
      // First: a death in between may leave a line too many, but never an unknown rule.
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

function idOf({ tool, edition, skill, files, chat, sender }: StandingRule): string {
  const of = edition === undefined ? [] : [edition];
  const bound = JSON.stringify([tool, skill ?? '', files ?? '', chat, sender, ...of]);
  return createHash('sha256').update(bound).digest('hex').slice(0, 12);
}

function auditOf({ tool, skill, sender, by }: KeptRule, verdict: 'added' | 'revoked'): AuditEvent {
  return { event: 'standing_rule', verdict, tool, skill, sender, by };
}

/** `counts`: the tool is still the same. */
export type ListedRule = KeptRule & Readonly<{ counts: boolean }>;

/**
 * Standing rules with whether they still count (T8): not if an MCP tool changed or is gone, and never for `bash`.
 * `editions`: of present tools, by name.
 */
export function listRules(
  rules: readonly KeptRule[],
  editions: ReadonlyMap<string, string>,
): readonly ListedRule[] {
  return rules.map((rule) => {
    const { tool, edition } = rule;
    const isBound = edition !== undefined || tool.startsWith(serverToolPrefix);
    const isSame = !isBound || (edition !== undefined && editions.get(tool) === edition);
    return { ...rule, counts: isSame && mayStand(tool) };
  });
}
