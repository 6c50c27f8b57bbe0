import { accessSettings } from '../config/runtime-config.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createWrittenSkills } from '../skills/written-skills.ts';
import { openStore } from '../store/open-store.ts';
import { createAgreements } from '../mcp/server-agreement.ts';
import { auditPlace } from '../audit/audit-files.ts';
import { createAudit } from '../audit/create-audit.ts';
import { createCapabilityBase, createCapabilityOperations } from '../capabilities/capability-base.ts';
import { createSkillApprovals } from '../authoring/approve-skill.ts';
import { createChatSettings } from '../settings/chat-settings.ts';
import type { Operate } from '../channels/terminal/control.ts';
import { createForgetSomebody } from './forget-somebody.ts';
import { createKeptFiles } from './kept-files.ts';
import { createChatMigrations } from '../access/chat-migrations.ts';
import { writtenRoot } from '../skills/open-library.ts';
import { createOperate } from './operate.ts';
import { createMcpOperations } from '../mcp/mcp-operations.ts';
import { createGroups } from '../conversations/intake/groups.ts';
import { createPairing, createWelcome } from '../access/pairing.ts';
import { createUsers } from '../access/users.ts';
import { createStandingRules } from '../approvals/standing-rules.ts';

/** The operator's commands on the store itself, for when no bot runs (Q9). Fails when one does, naming its pid. */
export async function openOperate(
  config: Config,
  log: Log,
): Promise<{ operate: Operate; close(): Promise<void> }> {
  const store = await openStore(config.store.url, { log });
  const migrations = createChatMigrations({
    stored: store.keyed('moved'),
    signals: store.signals,
    clock: systemClock,
  });
  const users = createUsers({
    stored: store.keyed('people'),
    access: () => accessSettings(config),
    migrations,
  });
  const { dataDir } = config.bot;
  const place = auditPlace(config.store.url, dataDir);
  const audit = createAudit({ dataDir, place, keyed: store.keyed, clock: systemClock, log });
  const pairing = createPairing({ stored: store.keyed('pairing'), users, audit, clock: systemClock });
  const groups = createGroups({
    stored: store.keyed('groups'),
    users,
    migrations,
    audit,
    clock: systemClock,
  });
  const welcome = createWelcome(store);
  const rules = createStandingRules({ stored: store.keyed('standing-rules'), audit });
  const forget = createForgetSomebody({
    store,
    users,
    pairing,
    rules,
    capabilities: store.capabilities,
    settings: createChatSettings({ store, migrations, log }),
    files: createKeptFiles(config.bot.workspace),
    access: () => accessSettings(config),
    audit,
    // With one owner nothing is being answered now; on PostgreSQL another process may be at it.
    waitMs: config.store.url.startsWith('sqlite:') ? 0 : 15_000,
    clock: systemClock,
    log,
  });
  const approvals = createSkillApprovals({
    root: writtenRoot(config),
    written: createWrittenSkills(store),
    onChange: async () => undefined,
    log,
  });
  const mcp = createMcpOperations({
    agreements: createAgreements({ stored: store.keyed('mcp'), signals: store.signals }),
    states: () => ({}),
    redact: (text) => text,
    audit,
  });
  const base = createCapabilityBase({
    config: () => config,
    records: store.capabilities,
    env: process.env,
    clock: systemClock,
    log,
  });
  const capabilities = createCapabilityOperations(base, audit);
  return {
    operate: createOperate({
      groups,
      store,
      users,
      pairing,
      welcome,
      forget,
      approvals,
      rules,
      mcp,
      capabilities,
      audit,
    }),
    close: store.close,
  };
}
