import type { Diagnostic } from '../../core/codes.ts';
import { findingReason } from './reasons.ts';

/** What a check found, before it has its reason. */
export type Found = Diagnostic &
  Readonly<{
    /** How to fix it, if that is better than what the code says. */
    fix?: string;
    /** Fixes it without asking anybody, for `--fix`. */
    repair?: () => void;
  }>;

/** A finding of the doctor (L2): what is wrong, why that matters, and what to do. */
export type Finding = Readonly<{
  /** The code of the finding. It never changes, because scripts match on it. */
  id: string;
  level: Diagnostic['level'];
  what: string;
  why: string;
  fix: string;
  path?: string;
  line?: number;
  repair?: () => void;
}>;

export type Check = Readonly<{
  name: string;
  /** What the check saw, in a few words. */
  said: string;
  findings: readonly Finding[];
}>;

export function check(name: string, said: string, found: readonly Found[] = []): Check {
  return { name, said, findings: found.map(toFinding) };
}

function toFinding({ code, level, message, path, line, fix, repair }: Found): Finding {
  const reason = findingReason(code, level);
  return { id: code, level, what: message, why: reason.why, fix: fix ?? reason.fix, path, line, repair };
}
