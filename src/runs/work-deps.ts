import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { AccessContext } from '../access/decide-skill.ts';
import type { StillAdmitted } from '../access/while-admitted.ts';
import type { JudgeCalls } from '../approvals/judge-calls.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { DeliverArtifacts, Tool } from '../core/tool.ts';
import type { Folders } from '../folders/folders.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { MemoryOfTurns } from '../memory/turn-memory.ts';
import type { SettingsInForce } from '../settings/settings-in-force.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import type { Seeing } from './received-files.ts';
import type { Availability } from './requirements.ts';
import type { Requirements } from './use-skill.ts';

/** What every turn and run uses of the bot. */
export type Host = Readonly<{
  runtime: () => RuntimeConfig;
  store: Store;
  migrations: Pick<ChatMigrations, 'original'>;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  log: Log;
}>;

/** Decisions that are made again while work is running (D7, S11, T8). */
export type Gates = Readonly<{
  accessOf: AccessContext;
  stillAdmitted: StillAdmitted;
  judgeCalls: JudgeCalls;
}>;

export type SkillSupply = Readonly<{
  library: SkillLibrary;
  authoring: Pick<SkillAuthoring, 'writing' | 'asItStands'>;
  availability: Availability;
  requirements: Requirements;
  sandbox: Sandbox;
  packages: ScriptPackages;
  folders: Folders;
}>;

/** Tools that are made once for the whole bot. */
export type ToolSupply = Readonly<{
  web: () => readonly Tool[];
  outside: Pick<OutsideTools, 'offered' | 'names'>;
  capabilities: Pick<Capabilities, 'tools'>;
  settings: Pick<SettingsInForce, 'forCall'>;
  memory: Pick<MemoryOfTurns, 'runTools'>;
  deliverArtifacts: DeliverArtifacts;
  seeing: Seeing;
}>;
