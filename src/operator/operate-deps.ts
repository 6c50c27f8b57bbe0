import type { Desk } from '../app.ts';
import type { ServerState } from '../core/server-state.ts';
import type { AccessInForce } from './access/access-decisions.ts';
import type { ExportPerson } from './export-person.ts';
import type { ForgetSomebody } from './forget-somebody.ts';
import type { Readiness } from './health/open-metrics.ts';
import type { NameChats } from './look/known-names.ts';

/** What operations act on: a bot that runs, or its files. */
export type OperatedBot = Desk &
  Readonly<{
    inForce(): Promise<AccessInForce>;
    /** The operator's time zone, as an IANA name. */
    zone(): string;
    /** What only a running bot can do. Undefined while no bot runs. */
    running?: RunningParts;
  }>;

/** What the operator's own operations use. */
export type OperateDeps = OperatedBot &
  Readonly<{
    forget: ForgetSomebody;
    exportPerson: ExportPerson;
    /** States of servers that bring tools. */
    servers(): Promise<readonly ServerState[]>;
  }>;

/** What only a running bot can say or do. */
export type RunningParts = Readonly<{
  readiness(): Readiness;
  /** What is wrong with plugins, one sentence each. */
  plugins(): readonly string[];
  nameChats: NameChats;
  /** Uses the files of skills and bundles as they are now: servers whose files changed are started again or ended (F12). */
  followFiles(): Promise<void>;
}>;
