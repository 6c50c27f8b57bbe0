import { auditPlace } from '../../audit/audit-files.ts';
import { createAudit } from '../../audit/create-audit.ts';
import type { Config } from '../../config/complete-config.ts';
import { accessSettings, skillRules } from '../../config/runtime-config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Registry } from '../../skills/registry.ts';
import { openStore } from '../../store/open-store.ts';
import { createPeople } from '../../access/create-people.ts';
import { accessDecisions, type AccessDecisions, type Writer } from './access-decisions.ts';
import { terminalAccess } from '../terminals/take-terminal.ts';

/**
 * Decides access as the bot would, with a store in memory that ends with this. It knows nobody but those in `known`, by
 * the namespace of the store.
 */
export async function openGates(
  config: Config,
  { registry, log }: Readonly<{ registry: Registry; log: Log }>,
  known: Readonly<Record<string, readonly (readonly [key: string, value: unknown])[]>> = {},
): Promise<
  Readonly<{
    decide(writer: Writer): Promise<AccessDecisions>;
    pair(sender: string): Promise<void>;
    isOwner(sender: string): Promise<boolean>;
    close(): Promise<void>;
  }>
> {
  const clock = systemClock;
  const memory = 'sqlite::memory:';
  const store = await openStore(memory, { log });
  for (const [namespace, values] of Object.entries(known))
    for (const [key, value] of values) await store.keyed(namespace).set(key, value);
  // No decision here is lasting, so nothing is recorded.
  const { dataDir } = config.bot;
  const audit = createAudit({ dataDir, place: auditPlace(memory, dataDir), keyed: store.keyed, clock, log });
  const access = terminalAccess(accessSettings(config));
  const { users, accessOf } = createPeople({ store, audit, clock }, { access: () => access });
  const inForce = { config, access, rules: skillRules(config), registry };
  return {
    decide: (writer) => accessDecisions(writer, { users, accessOf, inForce: async () => inForce }),
    pair: (sender) => users.pair({ sender, name: sender, since: clock.now() }),
    isOwner: users.isOwner,
    close: store.close,
  };
}
