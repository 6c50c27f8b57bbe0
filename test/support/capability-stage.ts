import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createAccounts } from '../../src/features/capabilities/capability-base.ts';
import { createAdvanceFlow } from '../../src/features/capabilities/advance-flow.ts';
import { createAuthFlows, openFlow } from '../../src/features/capabilities/auth-flows.ts';
import { openCapabilityKey } from '../../src/accounts/capability-key.ts';
import { configuredProviders } from '../../src/features/capabilities/configured-providers.ts';
import { createConfirmLink } from '../../src/features/capabilities/confirm-accounts.ts';
import { createDefinitions } from '../../src/features/capabilities/definitions.ts';
import type { CapabilityCaller } from '../../src/features/capabilities/capability-checks.ts';
import { createInvokeCapability } from '../../src/features/capabilities/invoke-capability.ts';
import { createSignedCalls } from '../../src/features/capabilities/signed-call.ts';
import { createTakeAuthAnswer } from '../../src/features/capabilities/take-auth-answer.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import type { Requester } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import { nodeCommand } from './node-command.ts';
import { quietLog } from './quiet-log.ts';

export const bridge = path.join(import.meta.dirname, 'scripted-bridge.ts');

export const requester = (more: Partial<Requester> = {}): Requester => ({
  conversation: { channel: 'telegram', chat: '42' },
  chatType: 'private',
  external: false,
  sender: 'telegram:42',
  kind: 'person',
  ...more,
});
export const caller = (more: Partial<CapabilityCaller> = {}): CapabilityCaller => ({
  requester: requester(),
  skill: 'tester',
  run: 'run-1',
  declared: ['test.secret', 'test.anywhere', 'test.groups', 'test.none', 'gone.one'],
  ...more,
});

/**
 * Capabilities over a real store, a real key file and real processes. `at.plus` moves their clock; with `at.dies` the process
 * ends where it would show an identity, with `at.full` no outcome can be stored.
 */
export async function capabilityStage(t: TestContext, folder?: string) {
  const home = folder ?? (await mkdtemp(path.join(tmpdir(), 'skillet-caps-')));
  const log = quietLog();
  const at = { plus: 0, dies: false, full: false };
  const clock: Clock = { ...systemClock, now: () => Date.now() + at.plus };
  const store = await openStore(`sqlite:${path.join(home, 'skillet.db')}`, { log, clock });
  t.after(async () => {
    await store.close();
    if (folder === undefined) await rm(home, { recursive: true, force: true });
  });
  const records: typeof store.capabilities = {
    ...store.capabilities,
    async keepOutcome(outcome) {
      if (at.full) throw new Error('disk full');
      return store.capabilities.keepOutcome(outcome);
    },
  };
  const key = () => openCapabilityKey(path.join(home, 'capabilities.key'), records);
  const config = configuredProviders({
    capabilities: {
      providers: { test: { enabled: true, command: nodeCommand(bridge, home), timeoutSeconds: 30 } },
    },
    skills: { byName: {} },
  } as unknown as Parameters<typeof configuredProviders>[0]);
  const providers = () => config;
  const calls = createSignedCalls({ key, env: {}, clock, log });
  const definitions = createDefinitions({ fetch: calls.definitions, clock });
  const accounts = createAccounts(records, key);
  const told: string[] = [];
  const advance = createAdvanceFlow({
    providers,
    records,
    key,
    calls,
    async askToConfirm(flow, { account_ref }) {
      if (at.dies) throw new Error('the process ends');
      told.push(`confirm ${flow.id} ${account_ref}`);
    },
    tellFailure: async (_, { code }, over) => void told.push(`${code} ${over ? 'over' : 'again'}`),
    clock,
  });
  const invoke = createInvokeCapability({ providers, definitions, accounts, records, key, calls, clock });
  const flows = createAuthFlows({
    find: invoke.find,
    records,
    key,
    calls,
    advance,
    sendLink: async (flow) => void told.push(`link ${flow.content.begun.auth_url}`),
    wake: () => undefined,
    clock,
  });
  const take = createTakeAuthAnswer({ records, key, wake: () => undefined, clock });
  const confirm = createConfirmLink({ records, accounts, key, clock });
  const { signal } = new AbortController();
  const advanceDue = async (): Promise<void> => {
    for (;;) {
      const due = await records.takeDue(clock.now(), clock.now() + 60_000);
      if (due === undefined) return;
      const flow = openFlow(await key(), due);
      if (flow !== undefined) await advance(flow, signal);
    }
  };
  return {
    home,
    at,
    clock,
    store,
    records,
    key,
    accounts,
    invoke,
    flows,
    confirm,
    told,
    log,
    signal,
    advanceDue,
    say: (text: string, more: Partial<Parameters<typeof take>[0]> = {}) =>
      take({
        text,
        chatType: 'private',
        external: false,
        sender: { id: 'telegram:42', name: 'Ann', kind: 'person' },
        conversation: requester().conversation,
        ...more,
      }),
    /** Links an account as a person does. */
    async link(hint: string, of: CapabilityCaller = caller(), capability = 'test.secret'): Promise<void> {
      const begun = await flows.begin(of, { capability, hint, call: 'c' }, signal);
      if (!begun.ok) throw new Error(begun.message);
      const { sender, conversation } = of.requester;
      await take({
        text: `https://back.example/?code=good&state=state-${hint}`,
        chatType: 'private',
        external: false,
        sender: { id: sender, name: 'Ann', kind: 'person' },
        conversation,
      });
      await advanceDue();
      await confirm(begun.value.flow, { sender, conversation }, true);
    },
  };
}
