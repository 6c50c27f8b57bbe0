import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { prepareTool, readOnly, type Tool, type ToolContext, type CallAssessment } from '../../core/tool.ts';
import type { Accounts } from './capability-base.ts';
import type { AuthFlows } from './auth-flows.ts';
import type { CapabilityFailure } from './call-bridge.ts';
import type { CapabilityCaller } from './capability-checks.ts';
import { shownCall, type InvokeCapability } from './invoke-capability.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see these tools and who is offered them (T2, T5). */
export const capabilityToolRows = {
  capability_list: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Looks at what a skill may reach for you.`,
    doing: fixed`looking at the linked systems`,
    risk: 'safe',
    runs: 'kept',
    inner: true,
    writes: 'nothing',
  },
  capability_invoke: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Works in a system you have linked, with your own account.`,
    doing: fixed`working in a linked system`,
    risk: 'moderate',
    runs: 'kept',
    writes: 'bound',
  },
  capability_auth: {
    icon: '🔑',
    title: fixed`Linking`,
    says: fixed`Links an account of yours.`,
    doing: fixed`linking an account`,
    risk: 'moderate',
    runs: 'kept',
    inner: true,
    writes: 'bound',
  },
} satisfies ToolRows;

type CapabilityDeps = Readonly<{
  invoke: InvokeCapability;
  flows: AuthFlows;
  accounts: Accounts;
  /** Records a call, even if it was refused (L6). */
  onCall(call: CapabilityCallRecord): Promise<void>;
}>;

export type CapabilityCallRecord = Readonly<{
  caller: CapabilityCaller;
  capability: string;
  operation: string;
  /** How the call ended: `ok`, `replayed`, or a code of C7. */
  outcome: string;
}>;

const listing = prepareTool({
  name: 'capability_list',
  row: capabilityToolRows.capability_list,
  description:
    'Lists the capabilities of this skill: what each can do, what its operations take, and which accounts the person has linked.',
  input: z.object({}),
  traits: readOnly,
  risk: 'safe',
});
const invoking = prepareTool({
  name: 'capability_invoke',
  row: capabilityToolRows.capability_invoke,
  description:
    'Calls an operation of a capability of this skill, with the account of the person who asked. What changes something is shown to the person, who has to agree to it. The host adds who they are: ids in the input have no effect on that.',
  input: z.object({
    capability: z.string().describe('namespace.name, as capability_list shows it'),
    operation: z.string(),
    input: z
      .record(z.string(), z.json() as z.ZodType<unknown, unknown>)
      .describe('fits the input_schema of the operation'),
    account: z.string().optional().describe('one of the linked accounts, where there are several'),
  }),
  // Repeating a call is safe: outcomes are stored by a key, so nothing is done twice (C8).
  traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: false },
  risk: 'moderate',
});
const linking = prepareTool({
  name: 'capability_auth',
  row: capabilityToolRows.capability_auth,
  description:
    'Links an account of the person. begin: the host sends them a link, in a direct message only; tell them to follow it and to send the answer here, which the host takes out of the conversation: you never see or ask for codes. list: accounts and sign-ins under way. poll: asks how a device sign-in stands. complete: whether what the person had to do was done.',
  input: z.object({
    action: z.enum(['begin', 'list', 'poll', 'complete']),
    capability: z.string().optional(),
    account_hint: z.string().max(200).optional(),
    flow: z.string().max(50).optional(),
  }),
  traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: false },
  risk: 'moderate',
});

/** The skill and run that call. The requester comes with each call. */
type Calling = Omit<CapabilityCaller, 'requester'>;

/** The tools of a run for the capabilities that its skill declares (C4). */
export function capabilityTools(calling: Calling, deps: CapabilityDeps): readonly Tool[] {
  return [listTool(calling, deps), invokeTool(calling, deps), authTool(calling, deps)];
}

function callerOf(calling: Calling, { requester }: ToolContext): CapabilityCaller {
  return { ...calling, requester };
}

async function refusal(
  { code, message }: CapabilityFailure,
  call: Omit<CapabilityCallRecord, 'outcome'>,
  { onCall }: CapabilityDeps,
): Promise<Envelope> {
  await onCall({ ...call, outcome: code });
  return fail(code, message);
}

function listTool(calling: Calling, { invoke, accounts }: CapabilityDeps): Tool {
  const tool = listing(async (_, context) => {
    const caller = callerOf(calling, context);
    const listed: unknown[] = [];
    for (const capability of calling.declared) {
      const found = await invoke.find(caller, capability, context.signal);
      if (!found.ok) {
        listed.push({ capability, unavailable: { code: found.code, reason: found.message } });
        continue;
      }
      const { description, sensitive, operations } = found.value.definition;
      const linked = await accounts.list({ sender: context.requester.sender, capability });
      listed.push({
        capability,
        description,
        sensitive,
        accounts: linked.map(({ ref }) => ref),
        operations: Object.fromEntries(
          [...operations].map(([name, { description: does, requires_auth, mutating, input_schema }]) => [
            name,
            { description: does, requires_auth, mutating, input_schema },
          ]),
        ),
      });
    }
    return succeed(listed);
  });
  // All text of providers is private, even a refusal (S7).
  return { ...tool, assess: async () => ({ taint: calling.skill }) };
}

function invokeTool(calling: Calling, deps: CapabilityDeps): Tool {
  const { invoke, onCall } = deps;
  const tool = invoking(async (input, context) => {
    const caller = callerOf(calling, context);
    const call = { caller, capability: input.capability, operation: input.operation };
    context.progress(`${input.capability} ${input.operation}`);
    const { agreed, signal } = context;
    const outcome = await invoke.invoke(caller, input, { agreed, signal });
    if (!outcome.ok) return refusal(outcome, call, deps);
    await onCall({ ...call, outcome: outcome.value.replayed ? 'replayed' : 'ok' });
    const { output, replayed } = outcome.value;
    return succeed(
      replayed
        ? { already_done: 'earlier in this run, with this very input: not done again', output }
        : { output },
    );
  });
  return { ...tool, assess: assessCall };

  /** The checks come before a person is asked to confirm (C5). */
  async function assessCall(input: unknown, context: ToolContext): Promise<CallAssessment> {
    const caller = callerOf(calling, context);
    const request = input as Parameters<InvokeCapability['prepare']>[1];
    const prepared = await invoke.prepare(caller, request, context.signal);
    if (!prepared.ok) {
      const { capability, operation } = request;
      return { refused: await refusal(prepared, { caller, capability, operation }, deps) };
    }
    const { mutating, done, account } = prepared.value;
    const taint = calling.skill;
    if (!mutating || done) return { risk: 'safe', taint, outward: !done };
    const mustConfirm = {
      shown: shownCall(request, account),
      refusedAs: 'capability_mutation_not_confirmed',
    } as const;
    return { risk: 'dangerous', mustConfirm, taint, outward: true };
  }
}

function authTool(calling: Calling, deps: CapabilityDeps): Tool {
  const { flows, accounts, onCall } = deps;
  const { declared, skill: taint } = calling;
  const tool = linking(async ({ action, capability, account_hint: hint, flow }, context) => {
    const caller = callerOf(calling, context);
    const call = { caller, capability: capability ?? '', operation: `auth ${action}` };
    switch (action) {
      case 'begin': {
        const [only, ...others] = declared;
        const named = capability ?? (others.length === 0 ? only : undefined);
        if (named === undefined) return fail('capability_invalid_input', 'name the capability');
        const wanted = { capability: named, hint, call: context.toolUseId };
        const begun = await flows.begin(caller, wanted, context.signal);
        if (!begun.ok) return refusal(begun, { ...call, capability: named }, deps);
        await onCall({ ...call, capability: named, outcome: 'ok' });
        return succeed({
          ...begun.value,
          next: 'The host has sent the link to the person. End now: say that they follow it, and ask again when it is linked.',
        });
      }
      case 'list': {
        const linked = await accounts.list({ sender: context.requester.sender });
        const theirs = linked.filter(({ capability: id }) => declared.includes(id));
        return succeed({
          accounts: theirs.map(({ capability: id, ref }) => ({ capability: id, account: ref })),
          flows: await flows.list(caller),
        });
      }
      case 'poll':
      case 'complete': {
        const looked = await flows.look(caller, { flow, capability, as: action }, context.signal);
        return looked.ok ? succeed(looked.value) : refusal(looked, call, deps);
      }
    }
  });
  return {
    ...tool,
    assess: async (input) => ({ taint, outward: (input as { action?: unknown }).action === 'begin' }),
  };
}
