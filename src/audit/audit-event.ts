import { createHash } from 'node:crypto';
import { conversationKey } from '../core/conversation.ts';
import type { Skill } from '../core/skill.ts';
import type { AuditedCall } from '../core/tool-call.ts';
import type { Requester } from '../core/tool.ts';

type AuditPlace = Readonly<{ sender: string; conversation: string; chatType: string }>;

/**
 * One line of the audit: ids, names and codes, never a person's words (L6). In files `AuditNames` replaces ids of
 * people with pseudonyms.
 */
export type AuditEvent = Readonly<
  | (AuditPlace &
      Omit<AuditedCall, 'id' | 'input' | 'requester'> & {
        call: string;
        /** The skill of the run that called; undefined for the main agent. */
        skill?: string;
        run?: string;
        /**
         * SHA-256 of the input's JSON in hexadecimal; undefined if `[audit] arguments` keeps the redacted JSON instead.
         */
        argumentsHash?: string;
        arguments?: string;
      })
  | (AuditPlace & {
      event: 'run';
      skill: string;
      origin: string;
      status: string;
      code?: string;
      iterations: number;
      durationMs: number;
    })
  | {
      event: 'approval';
      id: string;
      tool: string;
      skill?: string;
      conversation: string;
      requester: string;
      outcome: 'approved' | 'denied' | 'expired' | 'cancelled';
      by?: string;
    }
  /** An approver decided whether a budget of dollars may be passed (G6). */
  | {
      event: 'budget';
      id: string;
      verdict: 'allowed' | 'refused';
      /** Whose budget it is: that of the requester, of the conversation's chat, of the skill, or of everything. */
      of: 'sender' | 'room' | 'skill' | 'all';
      period: 'day' | 'month';
      skill?: string | undefined;
      usd: number;
      conversation: string;
      requester: string;
      by?: string | undefined;
    }
  | {
      event: 'standing_rule';
      verdict: 'added' | 'revoked';
      tool: string;
      skill?: string;
      sender: string;
      by: string;
    }
  /** Somebody noted or removed a memory; `memory` is its id. */
  | (AuditPlace & {
      event: 'memory';
      verdict: 'noted' | 'removed';
      memory: string;
      scope: string;
      /** SHA-256 of the memory's text in hexadecimal. */
      textHash: string;
      /** The operator who did it; undefined if it was the sender. */
      by?: string;
    })
  /** Somebody set or removed a tool's setting in a chat. The value is not recorded. */
  | {
      event: 'setting_changed';
      verdict: 'set' | 'unset';
      tool: string;
      key: string;
      conversation: string;
      by: string;
    }
  /** A skill's program called a capability. `outcome` is `ok`, `replayed` or an error code (C5, C7). */
  | (AuditPlace & {
      event: 'capability_call';
      skill: string;
      run: string;
      capability: string;
      operation: string;
      outcome: string;
    })
  /** One step of linking a person's account to a capability (C6). */
  | (AuditPlace & {
      event: 'capability_sign_in';
      capability?: string;
      step: 'link' | 'answer' | 'provider' | 'confirmation';
      outcome: string;
    })
  | { event: 'capability_revoked'; sender: string; capability: string }
  /** A person sent a question once more with `/retry`. */
  | (AuditPlace & { event: 'asked_again' })
  /** Messages were refused. Written at most hourly for each sender and code. */
  | (AuditPlace & { event: 'message_refused'; code: string })
  /** A webhook arrived. Each accepted one has a line, others one an hour for each hook and outcome (N7). */
  | (Omit<AuditPlace, 'chatType'> & { event: 'hook'; hook: string; outcome: string })
  | (AuditPlace & { event: 'skill_refused'; skill: string; code: string })
  /**
   * Something happened to a routine. `stopped` means that its creator may no longer do this. `by` is the person who did
   * it; undefined if the bot did.
   */
  | {
      event: 'routine';
      verdict: 'added' | 'changed' | 'removed' | 'fired' | 'paused' | 'resumed' | 'stopped';
      id: string;
      sender: string;
      conversation: string;
      by?: string;
    }
  | { event: 'pairing'; verdict: 'approved' | 'denied' | 'revoked' | 'owner'; sender: string; by?: string }
  /** Somebody decided about a group that is not in the config. */
  | {
      event: 'group';
      verdict: 'allowed' | 'ignored' | 'revoked' | 'left';
      conversation: string;
      by?: string;
    }
  /** Somebody rated an answer, or took that back; `feedback` is its id (U17). */
  | (AuditPlace & {
      event: 'feedback';
      verdict: 'up' | 'down' | 'taken back';
      feedback: string;
      skills: readonly string[];
    })
  /** An operator made a test of a skill from a rating. */
  | { event: 'feedback_tested'; feedback: string; skill: string; file: string; by: string }
  /** The operator agreed to changed or new tools of an MCP server. */
  | { event: 'mcp_agreed'; server: string; tools: readonly string[] }
  | { event: 'config_changed'; keys: readonly string[] }
  | {
      event: 'skills_changed';
      added: readonly string[];
      removed: readonly string[];
      changed: readonly string[];
    }
  | {
      event: 'skills_installed' | 'skills_removed';
      source: string;
      commit?: string;
      skills: readonly string[];
    }
  | {
      event: 'forgotten';
      /** SHA-256 of the person's id in hexadecimal. */
      subject: string;
      counts: Readonly<Record<string, number>>;
    }
  /**
   * A legal hold on a person or chat, which is `conversation`. `waits`: `sender` was to be forgotten, but the hold keeps
   * what is stored of them (L18).
   */
  | {
      event: 'hold';
      verdict: 'added' | 'removed' | 'waits';
      conversation: string;
      sender?: string;
      by?: string;
    }
  /** Retention removed these lines. `digest` is that of the record up to the last of them (L18). */
  | { event: 'lines_expired'; from: number; to: number; digest: string }
  /** Lines were missing when the audit was opened; `before` is the seal of the last line that the store knows. */
  | { event: 'lines_missing'; from: number; to: number; before: string }
>;

const kinds: Readonly<Record<AuditEvent['event'], true>> = {
  approval: true,
  asked_again: true,
  budget: true,
  capability_call: true,
  capability_revoked: true,
  capability_sign_in: true,
  config_changed: true,
  feedback: true,
  feedback_tested: true,
  forgotten: true,
  group: true,
  hold: true,
  hook: true,
  lines_expired: true,
  lines_missing: true,
  mcp_agreed: true,
  memory: true,
  message_refused: true,
  pairing: true,
  routine: true,
  run: true,
  setting_changed: true,
  skill_refused: true,
  skills_changed: true,
  skills_installed: true,
  skills_removed: true,
  standing_rule: true,
  tool_call: true,
  tool_call_blocked: true,
};

export const auditKinds: readonly string[] = Object.keys(kinds);

/** Matches a person's id, or the pseudonym of somebody who was forgotten. */
export const auditPerson = /^([a-z]+:\S+|#[0-9a-f]{16})$/;

export function placeOf({ sender, conversation, chatType }: Requester): AuditPlace {
  return { sender, conversation: conversationKey(conversation), chatType };
}

/** The line of a tool call. It has a hash of the arguments, or with `whole` the redacted arguments (L6). */
export function auditOfCall(
  { id, input, requester, ...call }: AuditedCall,
  of: Readonly<{ skill?: string; run?: string }>,
  whole: boolean,
): AuditEvent {
  return {
    ...call,
    call: id,
    ...placeOf(requester),
    ...of,
    arguments: whole ? input : undefined,
    argumentsHash: whole ? undefined : createHash('sha256').update(input).digest('hex'),
  };
}

/** How the definitions in force differ from those before; undefined if they are the same. */
export function skillChanges(before: readonly Skill[], now: readonly Skill[]): AuditEvent | undefined {
  const then = new Map(before.map((skill) => [skill.name, JSON.stringify(skill)]));
  const names = new Set(now.map(({ name }) => name));
  const added = now.filter(({ name }) => !then.has(name)).map(({ name }) => name);
  const removed = [...then.keys()].filter((name) => !names.has(name));
  const changed = now
    .filter((skill) => then.has(skill.name) && then.get(skill.name) !== JSON.stringify(skill))
    .map(({ name }) => name);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { event: 'skills_changed', added, removed, changed };
}
