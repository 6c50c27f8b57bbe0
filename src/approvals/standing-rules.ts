import { createHash } from 'node:crypto';
import type Keyv from 'keyv';
import type { AuditEvent } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Provenance } from '../core/provenance.ts';
import { serverToolPrefix } from '../core/built-in-tools.ts';

/** "Always" (T8): this tool and files, this person, this chat. */
export type StandingRule = Readonly<{
  tool: string;
  /** If others can change the tool (X7). */
  edition?: string;
  /** Absent: main agent. */
  skill?: string;
  /** Hash of its files. */
  files?: string;
  /** A thread belongs to its chat. */
  chat: string;
  sender: string;
  /** Whose words the call was made of that it was given for, and the marks there (S13). Does not bind it. */
  from?: Provenance;
}>;

export type KeptRule = StandingRule & Readonly<{ id: string; by: string; since: number }>;

/** Each command line is different. */
export function mayStand(tool: string): boolean {
  return tool !== 'bash';
}

/** Override a risk's action; never a rule, never `critical`. */
export type StandingRules = Readonly<{
  covers(rule: StandingRule): Promise<boolean>;
  add(rule: StandingRule, by: string, at: number): Promise<void>;
  list(): Promise<readonly KeptRule[]>;
  revoke(id: string): Promise<KeptRule | undefined>;
  /** For and by them (Q12). */
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
      // First: a crash may leave an extra line, never an unknown rule.
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

/** `counts`: same tool. */
type ListedRule = KeptRule & Readonly<{ counts: boolean }>;

/** Not for `bash`, nor if an MCP tool changed (T8). `editions`: current tools, by name. */
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
