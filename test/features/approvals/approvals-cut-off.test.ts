import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { interrupted } from '../../../src/core/tool-call.ts';
import { createAudit, type Audit } from '../../../src/audit/create-audit.ts';
import type { ApprovalRequest } from '../../../src/core/approval.ts';
import { createApprovals, type Approvals } from '../../../src/features/approvals/approvals.ts';
import { createStandingRules } from '../../../src/features/approvals/standing-rules.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStoreFor, storeNames, type StoreName } from '../../support/crash/stores.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { noPostgres } from '../../support/postgres.ts';
import { noDetails } from '../../support/no-details.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { until } from '../../support/until.ts';

const conversation = { channel: 'telegram', chat: '42' };
const place = { conversation, sender: 'telegram:42' };
const call: ApprovalRequest = {
  tool: 'write_file',
  input: { command: 'ls' },
  standing: { tool: 'write_file', chat: 'telegram:42', sender: 'telegram:42' },
  requester: { ...place, chatType: 'private', external: false, kind: 'person' },
  transcript: 'telegram:42',
  toolUseId: 'toolu_1',
};
/** What was asked stays in view. */
const asked = '\n\n`command`\n\n```\nls\n```';
const dead = new Promise<never>(() => undefined);

/** A store with a question that was sent, and processes that come and go. */
async function stage(t: TestContext, name: StoreName) {
  const opened = await openStoreFor(name);
  if (opened === undefined) return undefined;
  const dataDir = await mkdtemp(path.join(tmpdir(), 'skillet-approvals-'));
  const clock = createManualClock(Date.now());
  const log = quietLog();
  const store = await openStore(opened.options.storeUrl ?? 'sqlite::memory:', { clock });
  const audit = createAudit({ dataDir, keyed: store.keyed, clock, log });
  const over = new AbortController();
  t.after(async () => {
    over.abort();
    await store.close();
    await opened.close();
    await rm(dataDir, { recursive: true });
  });
  /** A process; what it calls after its death is never answered. */
  const process = (dies: Readonly<{ audit?: Partial<Audit>; commit?: Store['commit'] }> = {}): Approvals => {
    const itsAudit = { ...audit, ...dies.audit };
    const itsStore = { ...store, ...(dies.commit === undefined ? {} : { commit: dies.commit }) };
    return createApprovals(
      {
        replies: partOf({
          rows: async (to, key, markdown, more) => [
            { key: `${key}#0`, conversation: to, part: { markdown, buttons: more?.buttons ?? [] } },
          ],
        }),
        details: noDetails,
        approvers: () => [],
        isOwner: async () => false,
        rules: createStandingRules({ stored: store.keyed('standing-rules'), audit: itsAudit }),
        canAsk: () => true,
        stopping: over.signal,
      },
      { store: itsStore, audit: itsAudit, clock, log },
    );
  };
  const signal = new AbortController().signal;
  assert.deepEqual(await process().request(call, signal, { patienceMs: 0 }), { kind: 'unanswered' });
  const [{ id } = assert.fail()] = await store.pendingRequests.open(conversation);
  await send();

  async function send() {
    const row = await store.outbox.next('telegram:42', clock.now());
    assert.ok(row);
    await store.outbox.sending(row.key);
    await store.outbox.sent(row.key, row.shown ?? { id: '7' });
    return row;
  }
  const recorded = async () => {
    const lines = (await audit.tail(100)).map((line) => JSON.parse(line) as Record<string, unknown>);
    return lines.map(({ event, outcome, verdict, by }) => [event, outcome ?? verdict, by]);
  };
  const press = (approvals: Approvals, value: 'approve' | 'always' = 'approve') =>
    approvals.answer(id, { ...place, name: 'Ada' }, value);
  /** Somebody presses, and the process dies before it could record that. */
  const pressAndDie = async (value?: 'always'): Promise<void> => {
    const reached = Promise.withResolvers<void>();
    const record = (): Promise<never> => (reached.resolve(), dead);
    void press(process({ audit: { record } }), value);
    await reached.promise;
  };
  /** As a start does. */
  const attend = (approvals: Approvals): void => void approvals.attend();
  return { id, store, clock, process, press, pressAndDie, attend, send, recorded };
}

const approved = [['approval', 'approved', 'telegram:42']];

for (const name of storeNames) {
  test(`T8 L6 on the ${name} store a process dies right after the press: the next one records it once and takes the buttons away`, async (t) => {
    const staged = await stage(t, name);
    if (staged === undefined) return t.skip(noPostgres);
    const { store, clock, process, pressAndDie, attend, send, recorded } = staged;
    await pressAndDie();
    await clock.advance(10_000);
    assert.deepEqual(await recorded(), []);
    // Two go on at once, as two processes on one PostgreSQL do.
    attend(process());
    attend(process());
    await until(async () => (await store.outbox.pending(conversation)) > 0);
    assert.deepEqual(await recorded(), approved);
    const { part, shown } = await send();
    assert.deepEqual(
      [part.markdown, part.buttons, shown],
      [`Approved by \`Ada\`: \`write_file\`.${asked}`, [], { id: '7' }],
    );
    await clock.advance(3_600_000);
    assert.deepEqual(await recorded(), approved);
    assert.equal(await store.outbox.pending(conversation), 0);
  });
}

const allowed = [['standing_rule', 'added', 'telegram:42'], ...approved];

test('T8 L6 what was recorded before the death is not recorded again', async (t) => {
  const { store, clock, process, press, attend, recorded } = (await stage(t, 'embedded')) ?? assert.fail();
  const asked = Promise.withResolvers<void>();
  const commit = (): Promise<never> => (asked.resolve(), dead);
  void press(process({ commit }), 'always');
  await asked.promise;
  assert.deepEqual(await recorded(), allowed);
  await clock.advance(10_000);
  attend(process());
  await until(async () => (await store.outbox.pending(conversation)) > 0);
  assert.deepEqual(await recorded(), allowed);
});

test('T8 "Always" counts although the process died before that was kept', async (t) => {
  const { store, clock, process, pressAndDie, attend, recorded } =
    (await stage(t, 'embedded')) ?? assert.fail();
  await pressAndDie('always');
  await clock.advance(10_000);
  attend(process());
  await until(async () => (await store.outbox.pending(conversation)) > 0);
  assert.deepEqual(await recorded(), allowed);
});

test('T8 who presses again on a question that was cut off reads what became of the call, and the buttons go', async (t) => {
  const { store, clock, process, press, pressAndDie, send, recorded } =
    (await stage(t, 'embedded')) ?? assert.fail();
  await pressAndDie();
  const content = interrupted;
  await store.commit({
    entries: [
      {
        transcript: call.transcript,
        entry: { kind: 'tool_result', toolUseId: call.toolUseId, content, isError: true, at: clock.now() },
      },
    ],
  });
  await clock.advance(10_000);
  const again = await press(process());
  const text =
    'Approved by `Ada`: `write_file`. It was interrupted, so it may not have run. Check that before you ask for it again.';
  assert.deepEqual(again, { kind: 'late', text });
  assert.deepEqual((await send()).part, { markdown: `${text}${asked}`, buttons: [] });
  assert.deepEqual(await recorded(), approved);
});

test('T8 what nobody waits for any more ends when its time is over', async (t) => {
  const { store, clock, id, process, attend, send, recorded } = (await stage(t, 'embedded')) ?? assert.fail();
  attend(process());
  await clock.advance(5 * 60_000);
  await until(async () => (await store.outbox.pending(conversation)) > 0);
  assert.equal((await store.pendingRequests.find(id))?.state, 'expired');
  assert.deepEqual(await recorded(), [['approval', 'expired', undefined]]);
  assert.match((await send()).part.markdown, /^Not approved in time/);
});
