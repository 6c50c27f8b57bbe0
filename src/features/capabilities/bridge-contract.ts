import { z } from 'zod';
import { chatType } from '../../config/section.ts';
import { capabilityCodes } from '../../core/codes.ts';

/** The version of the protocol between bot and providers (C2). */
export const bridgeVersion = 1;

export type BridgeMethod = keyof BridgeParams;

/** The form of a capability's id: `namespace.name` (C1). */
export const capabilityIdForm = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;

const json: z.ZodType<unknown, unknown> = z.json();
const jsonObject = z.record(z.string(), json);
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/);
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u);
const schemaObject = jsonObject.default({});

const operation = z.object({
  description: z.string().min(1).max(2_000),
  requires_auth: z.boolean().default(true),
  mutating: z.boolean().default(false),
  /** A JSON Schema; `{}` accepts any object. */
  input_schema: schemaObject,
  output_schema: schemaObject,
});
const listed = z.array(operation.extend({ name })).transform((operations, context) => {
  const byName = new Map(operations.map(({ name: key, ...rest }) => [key, rest] as const));
  if (byName.size < operations.length) context.addIssue('two operations have one name');
  return Object.fromEntries(byName);
});

/** What a provider says about a capability. Its operations are by name, or a list of objects with `name` (C1). */
const capabilityDefinition = z.object({
  id: z.string().regex(capabilityIdForm),
  description: z.string().min(1).max(2_000),
  sensitive: z.boolean().default(false),
  /**
   * Where it may be used. If empty, a sensitive one works in direct messages and any other everywhere (C5). An unknown
   * type of chat makes the definition invalid.
   */
  allowed_chat_types: z.array(chatType).default([]),
  operations: z.union([listed, z.record(name, operation)]),
});
export type CapabilityDefinition = z.output<typeof capabilityDefinition>;
export type CapabilityOperation = z.output<typeof operation>;

type JsonObject = Readonly<Record<string, unknown>>;

/** Parameters by method. Every method but `definitions` also sends a token (C3). */
export type BridgeParams = Readonly<{
  definitions: Readonly<Record<string, never>>;
  auth_begin: Signed<{
    /** The word by which the person names the account, or null. */
    account_hint: string | null;
  }>;
  auth_complete: Signed<{
    flow_state: JsonObject;
    authorization_code: string;
    /** The whole address that the person pasted. Null for a bare code. */
    raw_callback_url: string | null;
    state: string | null;
  }>;
  auth_poll: Signed<{ flow_state: JsonObject }>;
  invoke: Signed<{
    operation: string;
    input_data: JsonObject;
    /** The account's name. Null for an operation without `requires_auth`. */
    account_ref: string | null;
    /** Equal for repeats of a call that changes something (C8). Null for other calls. */
    idempotency_key: string | null;
  }>;
}>;
type Signed<Params> = Readonly<Params & { capability_id: string; context_token: string }>;

const account = z.object({
  /** The account's name, unique for a person and a capability. */
  account_ref: line(200),
  /** References to credentials, never a secret (C3). */
  credential_material: jsonObject.default({}),
  /** Facts that may be shown, such as `email` and `name`. */
  metadata: jsonObject.default({}),
});
export type LinkedAccount = z.output<typeof account>;

/** The form of results by method (C3). */
export const bridgeResults = {
  definitions: z.object({ definitions: z.array(capabilityDefinition).max(200) }),
  auth_begin: z.object({
    /** An address without characters that could end it where it is shown. */
    auth_url: z
      .url({ protocol: /^https?$/ })
      .max(4_000)
      .regex(/^[!#-;=?-~]+$/),
    flow_type: z.enum(['authorization_code', 'device_code']).default('authorization_code'),
    /** The code that the person types at `auth_url`, in a device flow. */
    user_code: line(100).optional(),
    poll_interval_seconds: z.number().min(1).max(300).optional(),
    /** When the sign-in ends, by ISO 8601. The host allows 30 minutes at most. */
    expires_at: z.iso.datetime({ offset: true }).optional(),
    /** Data of the provider that is stored encrypted and sent back unchanged. */
    flow_state: jsonObject.default({}),
    expected_callback_state: z.string().min(1).max(2_000).optional(),
  }),
  auth_complete: account,
  auth_poll: z.union([
    z.object({ status: z.literal('pending'), retry_after_seconds: z.number().min(1).max(300).default(5) }),
    account,
  ]),
  invoke: z.object({ output: jsonObject }),
} as const satisfies Record<BridgeMethod, z.ZodType>;
export type BridgeResults = { [Method in BridgeMethod]: z.output<(typeof bridgeResults)[Method]> };

/** What a provider reads on standard input: one JSON object (C2). */
export type BridgeRequest<Method extends BridgeMethod = BridgeMethod> = Readonly<{
  version: typeof bridgeVersion;
  id: string;
  namespace: string;
  method: Method;
  params: BridgeParams[Method];
}>;

/** A code of C7, and a sentence for the model without secrets. */
const bridgeError = z.object({ code: z.enum(capabilityCodes), message: z.string().max(2_000) });

/** How many levels deep an answer may be nested. */
export const answerLevels = 64;

/** What a provider writes to standard output: one JSON object with either `result` or `error` (C2). */
export const bridgeAnswer = z
  .object({
    version: z.literal(bridgeVersion),
    id: z.string(),
    result: jsonObject.optional(),
    error: bridgeError.optional(),
  })
  .refine(({ result, error }) => (result === undefined) !== (error === undefined), {
    error: 'exactly one of result and error is wanted',
  });
