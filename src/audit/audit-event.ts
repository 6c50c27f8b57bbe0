import { createHash } from 'node:crypto';
import { conversationKey } from '../core/conversation.ts';
import type { Skill } from '../core/skill.ts';
import type { AuditedCall } from '../core/tool-call.ts';
import type { Requester } from '../core/tool.ts';

type AuditPlace = Readonly<{ sender: string; conversation: string; chatType: string }>;

/** Ids, names and codes, never a person's words (L6). Files have pseudonyms (`AuditNames`). */
export type AuditEvent = Readonly<
  | (AuditPlace &
      Omit<AuditedCall, 'id' | 'input' | 'requester'> & {
        call: string;
        /** The run that called, and its skill; absent for the main agent. */
        skill?: string;
        run?: string;
        /** Hex SHA-256 of the JSON, unless `[audit] arguments` keeps the redacted JSON. */
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
  | {
      event: 'standing_rule';
      verdict: 'added' | 'revoked';
      tool: string;
      skill?: string;
      sender: string;
      by: string;
    }
  /** A note; `memory` is its id. */
  | (AuditPlace & {
      event: 'memory';
      verdict: 'noted' | 'removed';
      memory: string;
      scope: string;
      /** Hex SHA-256. */
      textHash: string;
      /** An operator; otherwise it was the sender. */
      by?: string;
    })
  /** Of a tool, in a chat; the value is nobody's business here. */
  | {
      event: 'setting_changed';
      verdict: 'set' | 'unset';
      tool: string;
      key: string;
      conversation: string;
      by: string;
    }
  /** `outcome`: `ok`, `replayed` or a code of C7 (C5). */
  | (AuditPlace & {
      event: 'capability_call';
      skill: string;
      run: string;
      capability: string;
      operation: string;
      outcome: string;
    })
  /** A step of linking (C6). */
  | (AuditPlace & {
      event: 'capability_sign_in';
      capability?: string;
      step: 'link' | 'answer' | 'provider' | 'confirmation';
      outcome: string;
    })
  | { event: 'capability_revoked'; sender: string; capability: string }
  /** A question was answered once more (`/retry`). */
  | (AuditPlace & { event: 'asked_again' })
  /** Hourly per sender and code. */
  | (AuditPlace & { event: 'message_refused'; code: string })
  /** Accepted ones each, others hourly per hook and outcome (N7). */
  | (Omit<AuditPlace, 'chatType'> & { event: 'hook'; hook: string; outcome: string })
  | (AuditPlace & { event: 'skill_refused'; skill: string; code: string })
  /** `stopped`: its creator may not do this any more. `by`: who did it, if a person. */
  | {
      event: 'routine';
      verdict: 'added' | 'changed' | 'removed' | 'fired' | 'paused' | 'resumed' | 'stopped';
      id: string;
      sender: string;
      conversation: string;
      by?: string;
    }
  | { event: 'pairing'; verdict: 'approved' | 'denied' | 'revoked' | 'owner'; sender: string; by?: string }
  /** For a group not in config. */
  | {
      event: 'group';
      verdict: 'allowed' | 'ignored' | 'revoked' | 'left';
      conversation: string;
      by?: string;
    }
  /** Changed or new tools enabled. */
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
      /** Hex SHA-256 of the id. */
      subject: string;
      counts: Readonly<Record<string, number>>;
    }
  /** Lines gone at opening; `before`: seal of the last. */
  | { event: 'lines_missing'; from: number; to: number; before: string }
>;

const kinds: Readonly<Record<AuditEvent['event'], true>> = {
  approval: true,
  asked_again: true,
  capability_call: true,
  capability_revoked: true,
  capability_sign_in: true,
  config_changed: true,
  forgotten: true,
  group: true,
  hook: true,
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

/** Every kind of line. */
export const auditKinds: readonly string[] = Object.keys(kinds);

/** A person's id, or the name that stands for somebody who was forgotten. */
export const auditPerson = /^([a-z]+:\S+|#[0-9a-f]{16})$/;

export function placeOf({ sender, conversation, chatType }: Requester): AuditPlace {
  return { sender, conversation: conversationKey(conversation), chatType };
}

/** A hash of arguments, or redacted with `whole` (L6). */
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

/** How the definitions in force differ from those before; undefined if they do not. */
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
