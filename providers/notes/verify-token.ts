import { importJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import { hashJson } from './canonical-json.ts';
import { namespace } from './definitions.ts';
import type { Storage } from './open-storage.ts';
import type { Call } from './parse-request.ts';
import { Refusal } from './refusal.ts';

/** Who a call is made for, as the host signed it. */
export type Caller = Readonly<{ user: string; capability: string }>;

/** Seconds that a token may live at most, and that two clocks may differ. */
const longestLife = 60;
const tolerance = 5;

const claims = z.object({
  sub: z.string().min(1),
  jti: z.string().min(1).max(200),
  iat: z.number(),
  exp: z.number(),
  method: z.string(),
  chat_type: z.string(),
  capability: z.string(),
  operation: z.string().optional(),
  account: z.string().optional(),
  skill: z.string().optional(),
  input_hash: z.string(),
});

type SignedCall = Exclude<Call, { method: 'definitions' }>;

/**
 * Believes a call only where the host signed exactly this one: key, issuer, audience, time, method, capability, operation,
 * account and input all agree, and no call was made with this token before. Throws a Refusal otherwise.
 */
export async function verifyToken(
  call: SignedCall,
  { publicJwk, storage, now }: Readonly<{ publicJwk: string | undefined; storage: Storage; now: number }>,
): Promise<Caller> {
  if (publicJwk === undefined)
    throw new Refusal(
      'capability_backend_unavailable',
      'SKILLET_PUBLIC_JWK is not set: a bot has to start this',
    );
  const { context_token, ...rest } = call.params;
  const signed = await read(context_token, publicJwk, now);
  if (signed.exp - signed.iat > longestLife) throw denied('the token lives longer than a minute');
  const expected = {
    method: call.method,
    capability: call.params.capability_id,
    operation: call.method === 'invoke' ? call.params.operation : undefined,
    account: call.method === 'invoke' ? (call.params.account_ref ?? undefined) : undefined,
    input_hash: hashJson(call.method === 'invoke' ? call.params.input_data : rest),
  } as const;
  for (const [name, value] of Object.entries(expected)) {
    if (signed[name as keyof typeof expected] !== value) throw denied(`the token is for another ${name}`);
  }
  // What changes or reads a notebook is done by a skill; a person links one in a message of their own.
  if (call.method === 'invoke' && signed.skill === undefined) throw denied('the token names no skill');
  if (signed.chat_type !== 'private') throw denied('notebooks are for private chats');
  spend(storage, signed, now);
  return { user: signed.sub, capability: signed.capability };
}

async function read(token: string, publicJwk: string, now: number): Promise<z.output<typeof claims>> {
  try {
    const key = await importJWK(JSON.parse(publicJwk) as { kty: string }, 'EdDSA');
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['EdDSA', 'Ed25519'],
      issuer: 'skillet',
      audience: namespace,
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
      clockTolerance: tolerance,
      currentDate: new Date(now),
    });
    const read = claims.parse(payload);
    if (read.iat > now / 1_000 + tolerance) throw new Error('it is from the future');
    return read;
  } catch (cause) {
    throw denied(`the token is not good: ${cause instanceof Error ? cause.message : 'unknown'}`, cause);
  }
}

/** A token is good once, also where two processes have it at one moment: the key of the table decides. */
function spend(storage: Storage, { jti, exp }: z.output<typeof claims>, now: number): void {
  const until = (exp + tolerance) * 1_000;
  storage.run('DELETE FROM seen_tokens WHERE expires < ?', now);
  const { changes } = storage.run(
    'INSERT OR IGNORE INTO seen_tokens (jti, expires) VALUES (?, ?)',
    jti,
    until,
  );
  if (changes === 0) throw denied('the token was used before');
}

function denied(message: string, cause?: unknown): Refusal {
  return new Refusal('capability_access_denied', message, { cause });
}
