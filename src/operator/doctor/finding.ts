import type { Diagnostic } from '../../core/codes.ts';
import { reasonOf } from './reasons.ts';

/** What a check found. */
export type Found = Diagnostic &
  Readonly<{
    /** Better than the one that its code has. */
    fix?: string;
    /** Puts it right, with nobody asked (`--fix`). */
    repair?: () => void;
  }>;

/** A line of the doctor (L2): what is wrong, why it matters, what to do. */
export type Finding = Readonly<{
  /** Fixed: scripts match on it. */
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
  /** What it saw, in short. */
  said: string;
  findings: readonly Finding[];
}>;

export function check(name: string, said: string, found: readonly Found[] = []): Check {
  return { name, said, findings: found.map(toFinding) };
}

function toFinding({ code, level, message, path, line, fix, repair }: Found): Finding {
  const reason = reasonOf(code, level);
  return { id: code, level, what: message, why: reason.why, fix: fix ?? reason.fix, path, line, repair };
}
