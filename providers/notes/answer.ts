import { createAccountLinks, type LinkOptions } from './account-links.ts';
import { hashJson } from './canonical-json.ts';
import { definitions } from './definitions.ts';
import { operations } from './operations.ts';
import { parseRequest, type Params } from './parse-request.ts';
import { Refusal } from './refusal.ts';
import { verifyToken, type Caller } from './verify-token.ts';

/** How long an outcome is remembered under its idempotency key. */
const rememberedMs = 30 * 24 * 3_600_000;

/** What one request comes to: the `result` of its answer. Throws a Refusal for its `error`. */
export async function answer(
  request: unknown,
  { publicJwk, ...options }: LinkOptions & Readonly<{ publicJwk: string | undefined }>,
): Promise<unknown> {
  const call = parseRequest(request);
  if (call.method === 'definitions') return definitions();
  const { storage, now } = options;
  const caller = await verifyToken(call, { publicJwk, storage, now: now() });
  const links = createAccountLinks(options);
  switch (call.method) {
    case 'auth_begin':
      return links.begin(caller, call.params);
    case 'auth_complete':
      return links.complete(caller, call.params);
    case 'auth_poll':
      return links.poll(caller, call.params);
    case 'invoke':
      return { output: invoke(caller, call.params, options) };
  }
}

function invoke(caller: Caller, params: Params['invoke'], { storage, now }: LinkOptions): unknown {
  const { operation: name, input_data, account_ref: notebook, idempotency_key: key } = params;
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined)
    throw new Refusal('capability_not_found', `there is no operation ${name.slice(0, 60)}`);
  const { user } = caller;
  // One transaction: the note and the memory of it are both there or both not.
  return storage.once(() => {
    const account = storage.get(
      'SELECT 1 FROM accounts WHERE user = ? AND notebook = ?',
      user,
      notebook ?? '',
    );
    if (notebook == null || account === undefined)
      throw new Refusal('capability_auth_required', 'this person has no such notebook linked');
    const run = (): unknown => operation.run({ storage, user, notebook, now: now() }, input_data);
    if (!operation.mutating) return run();
    if (key == null) throw new Refusal('capability_invalid_input', `${name} needs an idempotency_key`);
    const request = hashJson([notebook, name, input_data]);
    storage.run('DELETE FROM outcomes WHERE stored < ?', now() - rememberedMs);
    const known = storage.get('SELECT request, output FROM outcomes WHERE user = ? AND key = ?', user, key);
    if (known !== undefined) {
      if (known['request'] !== request)
        throw new Refusal('capability_invalid_input', 'this idempotency_key was used for something else');
      return JSON.parse(String(known['output'])) as unknown;
    }
    const output = run();
    storage.run(
      'INSERT INTO outcomes (user, key, request, output, stored) VALUES (?, ?, ?, ?, ?)',
      ...[user, key, request, JSON.stringify(output), now()],
    );
    return output;
  });
}
