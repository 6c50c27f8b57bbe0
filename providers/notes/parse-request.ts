import { z } from 'zod';
import { capability, namespace } from './definitions.ts';
import { Refusal } from './refusal.ts';

const object = z.record(z.string(), z.json());
const context_token = z.string().max(8_000);

/** What each method of the bridge is called with. */
const params = {
  definitions: z.object({}),
  auth_begin: z.object({
    capability_id: z.string(),
    account_hint: z.string().nullish(),
    context_token,
  }),
  auth_complete: z.object({
    capability_id: z.string(),
    flow_state: object,
    authorization_code: z.string().nullish(),
    raw_callback_url: z.string().nullish(),
    state: z.string().nullish(),
    context_token,
  }),
  auth_poll: z.object({ capability_id: z.string(), flow_state: object, context_token }),
  invoke: z.object({
    capability_id: z.string(),
    operation: z.string(),
    input_data: object,
    account_ref: z.string().nullish(),
    idempotency_key: z.string().max(200).nullish(),
    context_token,
  }),
} as const;

export type Method = keyof typeof params;
export type Params = { [Name in Method]: z.output<(typeof params)[Name]> };
export type Call = { [Name in Method]: Readonly<{ method: Name; params: Params[Name] }> }[Method];

const envelope = z.object({
  version: z.literal(1, 'this provider speaks version 1 of the bridge'),
  id: z.string().min(1).max(200),
  namespace: z.literal(namespace, `this provider is that of the namespace ${namespace}`),
  method: z.enum(Object.keys(params) as Method[]),
  params: object,
});

/** The id of a request, which its answer has to carry; undefined if it can't be read. */
export function idOf(request: unknown): string | undefined {
  const read = z.object({ id: z.string() }).safeParse(request);
  return read.success ? read.data.id : undefined;
}

/** Reads one request; throws a Refusal that says everything that is wrong with it. */
export function parseRequest(request: unknown): Call {
  const outer = read(envelope, request);
  const call = { method: outer.method, params: read(params[outer.method], outer.params) } as Call;
  if (call.method !== 'definitions' && call.params.capability_id !== capability)
    throw new Refusal(
      'capability_not_found',
      `there is no ${call.params.capability_id} here, only ${capability}`,
    );
  return call;
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal('capability_invalid_input', z.prettifyError(parsed.error));
}
