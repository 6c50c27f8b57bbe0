import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** A provider that does what it is asked to get wrong. Its first argument is a folder, where it writes what it carried out. */
type Asked = Readonly<{
  id: string;
  method: string;
  params: Readonly<{
    operation?: string;
    input_data?: Readonly<Record<string, unknown>>;
    account_ref?: string | null;
    idempotency_key?: string | null;
    account_hint?: string | null;
    authorization_code?: string;
    flow_state?: Readonly<{ hint?: string }>;
  }>;
}>;

const folder = process.argv[2] ?? '.';
const { id, method, params } = JSON.parse(readFileSync(0, 'utf8')) as Asked;
const done = path.join(folder, 'done.jsonl');

class Refused extends Error {
  readonly code: string;
  constructor(code: string, said = code) {
    super(`refused: ${said}`);
    this.code = code;
  }
}

const operation = (more: object) => ({ description: 'Does it.', output_schema: { type: 'object' }, ...more });
const text = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
const strict = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

function definitions() {
  const operations = {
    open: operation({ requires_auth: false, input_schema: text }),
    read: operation({ input_schema: text }),
    note: operation({ requires_auth: false, mutating: true, input_schema: text }),
    write: operation({ mutating: true, input_schema: text }),
    odd: operation({ requires_auth: false, output_schema: strict }),
    leak: operation({ requires_auth: false }),
    fail: operation({ requires_auth: false }),
  };
  const of = (name: string, more: object) => ({
    id: `test.${name}`,
    description: 'A test.',
    operations,
    ...more,
  });
  return {
    definitions: [
      of('secret', { sensitive: true }),
      of('anywhere', {}),
      of('groups', { allowed_chat_types: ['group'] }),
    ],
  };
}

function invoke() {
  const { operation: name, input_data: input = {}, account_ref: account, idempotency_key: key } = params;
  if (name === 'leak') return { output: { inner: [{ access_token: 'abc' }] } };
  if (name === 'odd') return { output: { n: 'no number' } };
  if (name === 'fail') throw new Refused(String(input['code']), input['said'] as string);
  if (name === 'write' || name === 'note') {
    const before = existsSync(done) ? readFileSync(done, 'utf8').split('\n') : [];
    const known = before.find((line) => line.includes(`"${key}"`));
    if (known !== undefined) return { output: { written: true, again: true } };
    appendFileSync(done, `${JSON.stringify({ key, input, account })}\n`);
    // Once: the bot that asked is killed before it has the answer.
    const kill = path.join(folder, 'kill');
    if (existsSync(kill)) {
      rmSync(kill);
      process.kill(process.ppid, 'SIGKILL');
    }
    return { output: { written: true } };
  }
  return { output: { account, input } };
}

function begin() {
  const hint = params.account_hint ?? '';
  const flow_state = { hint };
  const url = (query: string): string => `https://auth.example/authorize?${query}`;
  const pkce = 'code_challenge=abc&code_challenge_method=S256';
  if (hint === 'no pkce') return { auth_url: url('state=s1'), flow_state };
  if (hint === 'no state') return { auth_url: url(pkce), flow_state };
  if (hint === 'clear') return { auth_url: `http://auth.example/?state=s1&${pkce}`, flow_state };
  if (hint === 'other state')
    return { auth_url: url(`state=s1&${pkce}`), expected_callback_state: 's2', flow_state };
  if (hint === 'short')
    return {
      auth_url: url(`state=s1&${pkce}`),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      flow_state,
    };
  if (hint === 'two lines')
    return { auth_url: url(`x=\n\nOr https://evil.example&state=s1&${pkce}`), flow_state };
  if (hint === 'over')
    return { auth_url: url(`state=s1&${pkce}`), expires_at: '2020-01-01T00:00:00Z', flow_state };
  if (hint.startsWith('device'))
    return {
      auth_url: 'https://auth.example/device',
      flow_type: 'device_code',
      user_code: 'WDJB-MJHT',
      poll_interval_seconds: 1,
      flow_state,
    };
  return { auth_url: url(`state=state-${hint}&${pkce}`), flow_state };
}

function complete() {
  const hint = params.flow_state?.hint ?? '';
  const code = params.authorization_code ?? '';
  if (method === 'auth_poll' && !hint.startsWith('device')) throw new Refused('capability_auth_flow_invalid');
  if (code.startsWith('bad-')) throw new Refused(code.slice(4));
  if (hint === 'device pending' && !existsSync(path.join(folder, 'allowed')))
    return { status: 'pending', retry_after_seconds: 1 };
  if (hint === 'leaky') return { account_ref: 'me', credential_material: { token: 'secret-1' } };
  return {
    account_ref: `${hint}@example.org`,
    credential_material: { ref: 'vault:1' },
    metadata: { name: 'Ann' },
  };
}

function answer(): unknown {
  if (method === 'definitions') return definitions();
  if (method === 'invoke') return invoke();
  return method === 'auth_begin' ? begin() : complete();
}

try {
  console.log(JSON.stringify({ version: 1, id, result: answer() }));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(JSON.stringify({ version: 1, id, error: { code: error.code, message: error.message } }));
}
