import type { Audit } from '../audit/create-audit.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { createChatMigrations, type ChatMigrations } from './chat-migrations.ts';
import { createAccessContext, type AccessContext } from './decide-skill.ts';
import { createGroups, type Groups } from './groups.ts';
import { createPairing, createWelcome, type Pairing, type PairingRequest } from './pairing.ts';
import { createUsers, type Users } from './users.ts';

/** What is known about people and groups, and decided about them. */
export type People = Readonly<{
  migrations: ChatMigrations;
  users: Users;
  pairing: Pairing;
  groups: Groups;
  /** Tells a person that they were approved. */
  welcome(request: PairingRequest): Promise<void>;
  accessOf: AccessContext;
}>;

/** Makes what knows about people, in the same way with a running bot and without. */
export function createPeople(
  { store, audit, clock }: Readonly<{ store: Store; audit: Audit; clock: Clock }>,
  rules: Pick<Parameters<typeof createUsers>[0], 'access' | 'language' | 'isHere'>,
): People {
  const migrations = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const users = createUsers({ ...rules, stored: store.keyed('people'), migrations });
  return {
    migrations,
    users,
    pairing: createPairing({ stored: store.keyed('pairing'), users, audit, clock }),
    groups: createGroups({ stored: store.keyed('groups'), users, migrations, audit, clock }),
    welcome: createWelcome(store),
    accessOf: createAccessContext(migrations),
  };
}
