import { chatIdOf, type ChatType } from '../core/conversation.ts';
import type { Requester } from '../core/tool.ts';
import { capabilityIdForm } from './bridge-contract.ts';
import { failure, type CapabilityFailure, type Outcome } from './call-bridge.ts';
import type { Capability, CheckedOperation } from './definitions.ts';

/** In whose name a capability is used. */
export type CapabilityCaller = Readonly<{
  requester: Requester;
  skill: string;
  run: string;
  /** What the skill declares. */
  declared: readonly string[];
}>;

/** The first gates (C5): the user is known, the id has its form, the skill declares it. */
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

/** The gate of the place: the capability's own list of chat types, else private where it is sensitive (C5). What is unknown or shared with another company is no place for what is sensitive. */
export function judgePlace(
  { id, sensitive, allowed_chat_types: listed }: Pick<Capability, 'id' | 'sensitive' | 'allowed_chat_types'>,
  { chatType, external }: Pick<Requester, 'chatType' | 'external'>,
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

/** The gates of what is asked: the operation exists, its input fits (C5). */
export function judgeInput(
  { id, operations }: Capability,
  name: string,
  input: unknown,
): Outcome<CheckedOperation> {
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

/** The gate of the account (C6): the one that is named, else the only one; null for an operation that needs none. */
export function chooseAccount(
  operation: Pick<CheckedOperation, 'requires_auth'>,
  refs: readonly string[],
  named: string | undefined,
): Outcome<string | null> {
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

/** A person, not a chat that speaks: an anonymous admin, a channel. */
function isPerson({ sender, conversation, chatType }: Requester): boolean {
  if (!/^[^:]+:[^:-]/.test(sender)) return false;
  return chatType === 'private' || sender !== chatIdOf(conversation);
}
