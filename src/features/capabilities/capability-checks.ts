import { capabilityIdForm } from './bridge-contract.ts';
import { failure, type CapabilityFailure, type CapabilityOutcome } from './call-bridge.ts';
import type { Capability, CheckedOperation } from './definitions.ts';
import { chatIdOf, type ChatType } from '../../core/conversation.ts';
import type { Requester } from '../../core/tool.ts';

/** Keys that hold credentials. Page tokens and sync tokens are none. */
const keys =
  /^(?:token|secret|password|passwd|passphrase|authorization|cookie|credentials?|jwt|bearer)$|(?:access|refresh|id|auth|oauth|bearer|session|security|api)tokens?$|(?:client|api|app|shared|consumer)secret$|(?:api|private|secret|access|signing|encryption)key$|^setcookie$|^sessionid$|^(?:auth|authorization)code$|^codeverifier$|(?:user|account|db)password$/;

/** Values that are credentials, whatever their key is, also within a text. */
const values =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|(?<=\beyJ[\w-]{8,})\.eyJ[\w-]{8,}\.[\w-]{8,}|\b[Bb]earer +[\w.~+/-]{20,}=*|\bya29\.[\w-]{20,}|\b1\/\/0[\w-]{20,}|\bgh[pousr]_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}|\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{20,}|\bsk-(?:ant-)?[\w-]{20,}|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\b\d{8,10}:AA[\w-]{33}/;

export type CapabilityCaller = Readonly<{
  requester: Requester;
  skill: string;
  run: string;
  /** Ids of the capabilities that the skill declares. */
  declared: readonly string[];
}>;

/** Checks that a known person asks, and that the skill declares the capability (C5). Undefined: it may be called. */
export function judgeCaller(
  { requester, skill, declared }: CapabilityCaller,
  capability: string,
): CapabilityFailure | undefined {
  if (!isPerson(requester))
    return failure(
      'capability_access_denied',
      'who asks is no single person: capabilities act with a person’s own account',
    );
  if (!capabilityIdForm.test(capability))
    return failure('capability_invalid_input', 'a capability is written namespace.name, such as notes.book');
  if (!declared.includes(capability))
    return failure(
      'capability_access_denied',
      `${skill} does not declare ${capability}. It declares: ${declared.join(', ') || 'none'}`,
    );
  return undefined;
}

/**
 * Checks the kind of chat by `allowed_chat_types`. Without that list, sensitive capabilities work only in direct
 * messages (C5). In chats shared with another company they never work. Undefined: it may be called.
 */
export function judgePlace(
  { id, sensitive, allowed_chat_types: listed }: Capability,
  { chatType, external }: Requester,
): CapabilityFailure | undefined {
  const byDefault: readonly ChatType[] | undefined = sensitive ? ['private'] : undefined;
  const allowed = listed.length > 0 ? listed : byDefault;
  const here =
    chatType !== 'unknown' &&
    !(sensitive && external) &&
    (allowed === undefined || allowed.includes(chatType));
  if (here) return undefined;
  const where = allowed === undefined ? 'a chat whose kind is known' : allowed.join(', ');
  return failure('capability_access_denied', `${id} is not for this chat, only for: ${where}`);
}

export function judgeInput(
  { id, operations }: Capability,
  name: string,
  input: unknown,
): CapabilityOutcome<CheckedOperation> {
  const operation = operations.get(name);
  if (operation === undefined)
    return failure(
      'capability_invalid_input',
      `${id} has no such operation. It has: ${[...operations.keys()].join(', ') || 'none'}`,
    );
  const problem = operation.checkInput(input);
  return problem === undefined
    ? { ok: true, value: operation }
    : failure('capability_invalid_input', `the input does not fit: ${problem}`);
}

/** The account that is named, otherwise the only one. Null if the operation needs none (C6). */
export function chooseAccount(
  operation: CheckedOperation,
  refs: readonly string[],
  named: string | undefined,
): CapabilityOutcome<string | null> {
  if (!operation.requires_auth) return { ok: true, value: null };
  const [only, ...others] = refs;
  if (only === undefined)
    return failure(
      'capability_auth_required',
      'the person has linked no account yet: capability_auth with action "begin", in a direct message',
    );
  if (named !== undefined) {
    if (refs.includes(named)) return { ok: true, value: named };
    return failure('capability_auth_required', `no such account is linked. Linked: ${refs.join(', ')}`);
  }
  if (others.length > 0)
    return failure('capability_account_ambiguous', `name the account: ${refs.join(', ')}`);
  return { ok: true, value: only };
}

/** Whether a single person asks, and not an anonymous admin or a channel. */
function isPerson({ sender, conversation, chatType }: Requester): boolean {
  if (!/^[^:]+:[^:-]/.test(sender)) return false;
  return chatType === 'private' || sender !== chatIdOf(conversation);
}

/**
 * Where a credential is in the data, as in `items.0.access_token`, without its value (C5). Undefined: there is none.
 */
export function findCredential(data: unknown, path: readonly string[] = []): string | undefined {
  if (typeof data === 'string') return values.test(data) ? path.join('.') || 'the answer' : undefined;
  if (typeof data !== 'object' || data === null) return undefined;
  for (const [key, value] of Object.entries(data as Readonly<Record<string, unknown>>)) {
    const here = [...path, key];
    const word = key.toLowerCase().replace(/[^a-z0-9]/g, '');
    if (keys.test(word) && isFilled(value)) return here.join('.');
    const within = findCredential(value, here) ?? (values.test(key) ? path.join('.') || 'a key' : undefined);
    if (within !== undefined) return within;
  }
  return undefined;
}

/** Whether a value can be a credential. `has_password: true` and `token: null` are none. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}
