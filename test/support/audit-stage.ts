import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import { createAudit, type Audit } from '../../src/audit/create-audit.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from './manual-clock.ts';
import { quietLog } from './quiet-log.ts';

export const day = 86_400_000;

export const refusal = (sender: string, code = 'STRANGER'): AuditEvent => ({
  ...{ event: 'message_refused', sender, conversation: sender, chatType: 'private', code },
});

/** An audit on a folder and a store of its own; `open` opens it as a start does. */
export async function auditStage(t: TestContext) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'skillet-audit-'));
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  const log = quietLog();
  const open = (keyed: Parameters<typeof createAudit>[0]['keyed'] = store.keyed): Audit =>
    createAudit({ dataDir, keyed, clock, log });
  /** Three days with two lines each, of six people. */
  const written = async (): Promise<Audit> => {
    const audit = open();
    for (let n = 0; n < 6; n++) {
      await audit.record(refusal(`telegram:${n}`));
      if (n % 2 === 1) await clock.advance(day);
    }
    return audit;
  };
  return { dataDir, store, clock, log, open, written };
}
