import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createPeople } from '../../src/access/create-people.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { skillRules } from '../../src/config/runtime-config.ts';
import { featuresAtRest } from '../../src/features/list.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createOperate } from '../../src/operator/operate.ts';
import { createRegistry } from '../../src/skills/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createChatSettings } from '../../src/tools/settings/chat-settings.ts';
import { makeMessage } from './make-message.ts';
import { quietLog } from './quiet-log.ts';
import { partOf } from './app-of.ts';

const access = () => ({
  owners: [],
  general: {},
  channels: new Map(),
  chats: new Map(),
  allowExternal: false,
});

/** All operations over a store in memory in which one message waits. */
export async function operateHere(t: TestContext, isRunning = true) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-operations-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const store = await openStore('sqlite::memory:');
  t.after(store.close);
  await store.inbox.accept(makeMessage(), { now: 1 });
  const log = quietLog();
  const audit = createAudit({ dataDir: folder, keyed: store.keyed, clock: systemClock, log });
  const people = createPeople({ store, audit, clock: systemClock }, { access });
  const parsed = parseConfig('', { env: {}, home: folder, cwd: folder });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const desk = {
    ...{ store, audit, clock: systemClock, log, env: {}, config: () => config },
    ...people,
    chatSettings: createChatSettings({ store, migrations: people.migrations, log }),
  };
  const operating = createOperate({
    ...desk,
    access,
    features: featuresAtRest(desk),
    definitionHashes: async () => new Map(),
    files: partOf({
      forget: async () => 0,
      reading: async (_whose, work) => work({ folders: [], files: [] }),
    }),
    zone: () => 'UTC',
    inForce: async () => ({
      ...{ config, access: access(), rules: skillRules(config), registry: createRegistry([]) },
    }),
    running: isRunning
      ? {
          plugins: () => [],
          followFiles: async () => undefined,
          nameChats: () => new Map(),
          readiness: () => ({
            ...{ ready: true, data: { ok: true }, store: { ok: true }, channels: {}, model: null },
          }),
        }
      : undefined,
  });
  return { ...operating, folder, store };
}
