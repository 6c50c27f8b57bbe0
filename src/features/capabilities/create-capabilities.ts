import { createSignInWorker } from '../../accounts/sign-in-worker.ts';
import { createAdvanceFlow } from './advance-flow.ts';
import { createAuthFlows, openFlow } from './auth-flows.ts';
import { capabilityTools } from './capability-tools.ts';
import { namespaceOf } from './configured-providers.ts';
import {
  createConfirmLink,
  createConfirmAccounts,
  linkText,
  type ConfirmAccounts,
} from './confirm-accounts.ts';
import { createInvokeCapability } from './invoke-capability.ts';
import { createTakeAuthAnswer } from './take-auth-answer.ts';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import type { Config } from '../../config/complete-config.ts';
import type { Channel, WriteCommand } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { Skill } from '../../core/skill.ts';
import type { Requester, Tool } from '../../core/tool.ts';
import type { Store } from '../../store/store.ts';
import type { Audit } from '../../audit/create-audit.ts';
import {
  createCapabilityBase,
  createCapabilityOperations,
  type CapabilityOperations,
} from './capability-base.ts';
import { createGuardSignIns, failureText, type GuardSignIns } from '../../accounts/guard-sign-ins.ts';
import type { Replies } from '../../replies/replies.ts';

export type Capabilities = Readonly<{
  tools(skill: Skill, run: string): readonly Tool[];
  /** Why a capability that the skill declares can't be used here. Undefined if all can (U1). */
  lacking(skill: Skill, requester: Requester, signal: AbortSignal): Promise<string | undefined>;
  signIns: GuardSignIns;
  confirmations: ConfirmAccounts;
  /** Ends a person's open sign-ins in a chat, for `/stop` and `/new`. Returns how many there were. */
  callOff(sender: string, conversation: Conversation): Promise<number>;
  /** Deletes a person's accounts, sign-ins and stored outcomes (Q12). Returns how many accounts there were. */
  forget(sender: string): Promise<number>;
  operations: CapabilityOperations;
  attend(signal: AbortSignal): Promise<void>;
  report(): void;
}>;

export function createCapabilities(
  options: Readonly<{
    plugins: Readonly<{ providers(config: Config): readonly BridgeProvider[] }>;
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
    env: Readonly<Record<string, string | undefined>>;
  }>,
  host: Readonly<{
    runtime: () => Readonly<{ config: Config }>;
    store: Store;
    audit: Audit;
    clock: Clock;
    log: Log;
  }>,
): Capabilities {
  const { channels, writeCommand, replies, env } = options;
  const { runtime, store, audit, clock, log } = host;
  const base = createCapabilityBase({
    config: () => runtime().config,
    ofPlugins: options.plugins.providers,
    records: store.capabilities,
    env,
    clock,
    log,
  });
  const { records, key, providers, calls, definitions, accounts } = base;
  const confirm = createConfirmLink({ records, accounts, key, clock });
  const confirmations = createConfirmAccounts({ confirm, store, replies, audit });
  const recordSignIn = (
    requester: Requester,
    capability: string,
    step: 'link' | 'provider',
    outcome: string,
  ) =>
    audit.record({
      event: 'capability_sign_in',
      sender: requester.sender,
      conversation: conversationKey(requester.conversation),
      chatType: requester.chatType,
      capability,
      step,
      outcome,
    });
  const advance = createAdvanceFlow({
    providers,
    records,
    key,
    calls,
    askToConfirm: confirmations.ask,
    async tellFailure({ id, capability, content }, { code }, over) {
      const { requester } = content;
      const text = failureText(code, over, requester.language);
      const outbox = await replies.rows(requester.conversation, `flow:${id}:${clock.now()}`, text);
      await store.commit({ outbox });
      await recordSignIn(requester, capability, 'provider', code);
    },
    clock,
  });
  const flowsAttended = createSignInWorker({
    records,
    async advance(kept, signal) {
      const flow = openFlow(await key(), kept);
      if (flow !== undefined) await advance(flow, signal);
    },
    clock,
    log,
  });
  const invoke = createInvokeCapability({ providers, definitions, accounts, records, key, calls, clock });
  const flows = createAuthFlows({
    find: invoke.find,
    records,
    key,
    calls,
    advance,
    async sendLink(flow, outboxKey) {
      const { requester } = flow.content;
      const text = linkText(flow, writeCommand(requester.conversation, 'stop'));
      await store.commit({ outbox: await replies.rows(requester.conversation, outboxKey, text) });
      await recordSignIn(requester, flow.capability, 'link', 'ok');
    },
    wake: flowsAttended.wake,
    clock,
  });
  const take = createTakeAuthAnswer({ records, key, wake: flowsAttended.wake, clock });

  return {
    tools: (skill, run) =>
      skill.capabilities.length === 0
        ? []
        : capabilityTools(
            { skill: skill.name, run, declared: skill.capabilities },
            {
              invoke,
              flows,
              accounts,
              onCall: ({ caller, capability, operation, outcome }) =>
                audit.record({
                  event: 'capability_call',
                  sender: caller.requester.sender,
                  conversation: conversationKey(caller.requester.conversation),
                  chatType: caller.requester.chatType,
                  skill: caller.skill,
                  run: caller.run,
                  capability,
                  operation,
                  outcome,
                }),
            },
          ),
    async lacking({ name, capabilities: declared }, requester, signal) {
      for (const capability of declared) {
        const namespace = namespaceOf(capability);
        if (providers().get(namespace) === undefined)
          return `no provider is set up for ${capability}, which ${name} needs. The operator adds to config.toml:\n[capabilities.providers.${namespace}]\ncommand = ["…"]`;
        const found = await invoke.find({ requester, skill: name, run: '', declared }, capability, signal);
        if (!found.ok) return `${name} needs ${capability}: ${found.message}`;
      }
      return undefined;
    },
    signIns: createGuardSignIns({ take, channels, replies, audit, log }),
    confirmations,
    callOff: (sender, conversation) =>
      records.endFlows({ sender, conversation: conversationKey(conversation) }),
    forget: records.forget,
    operations: createCapabilityOperations(base, audit),
    attend: flowsAttended.run,
    report() {
      for (const problem of providers().problems) log.warn({ problem }, 'a capability provider is not used');
    },
  };
}
