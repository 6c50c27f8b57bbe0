import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { bridgeEnvironment } from '../../../src/features/capabilities/signed-call.ts';
import { callBridge } from '../../../src/features/capabilities/call-bridge.ts';
import type { Log } from '../../../src/lib/log.ts';
import { createEndWithUs } from '../../../src/lib/processes/end-with-us.ts';
import { withinMachineTime } from '../../support/machine-time.ts';
import { nodeCommand } from '../../support/node-command.ts';
import { quietLog } from '../../support/quiet-log.ts';

const faulty = path.join(import.meta.dirname, '../../support/faulty-bridge.ts');
const environment = bridgeEnvironment(
  { PATH: process.env['PATH'], HOME: '/nowhere', SECRET: 'canary' },
  '{}',
);

const endWithUs = createEndWithUs(quietLog());

const call = (
  args: readonly string[],
  how: { command?: readonly string[]; timeoutSeconds?: number; signal?: AbortSignal; log?: Log } = {},
) =>
  callBridge(
    {
      namespace: 'faulty',
      command: [...(how.command ?? nodeCommand(faulty)), ...args],
      timeoutSeconds: how.timeoutSeconds ?? 20,
    },
    'invoke',
    {
      capability_id: 'faulty.one',
      operation: 'do',
      input_data: {},
      account_ref: null,
      idempotency_key: null,
      context_token: 'token',
    },
    {
      environment,
      signal: how.signal ?? new AbortController().signal,
      endWithUs,
      log: how.log ?? quietLog(),
    },
  );

test('C2 a bridge answers with one object, and is given nothing of the host but PATH, HOME and its key', async () => {
  assert.deepEqual(await call(['none']), { ok: true, value: { output: { fine: true } } });
  const told = await call(['environment'], { command: [process.execPath, faulty] });
  assert.ok(told.ok);
  const names = Object.keys(told.value.output['environment'] as object).filter(
    (name) => !name.startsWith('_'),
  );
  assert.deepEqual(names.sort(), ['HOME', 'PATH', 'SKILLET_PUBLIC_JWK']);
});

for (const fault of [
  ...['silence', 'partial', 'two', 'array', 'huge', 'wrong id', 'wrong version', 'both', 'neither'],
  ...['unknown code', 'no output', 'latin1', 'nested', 'many'],
]) {
  test(`C2 ${fault}: capability_invalid_output`, async () => {
    const outcome = await call([fault]);
    assert.ok(!outcome.ok);
    assert.equal(outcome.code, 'capability_invalid_output', outcome.message);
  });
}

test('C2 a crash, an exit code after a result and an absent program are capability_backend_unavailable', async () => {
  for (const fault of ['crash', 'exit 1']) {
    const outcome = await call([fault]);
    assert.equal(outcome.ok || outcome.code, 'capability_backend_unavailable', fault);
  }
  const absent = await callBridge(
    { namespace: 'faulty', command: ['/nowhere/at-all'], timeoutSeconds: 5 },
    'definitions',
    {},
    { environment, signal: new AbortController().signal, endWithUs, log: quietLog() },
  );
  assert.equal(absent.ok || absent.code, 'capability_backend_unavailable');
});

test('C2 what hangs is ended in time, with everything that it started, its own sessions included', async () => {
  const { log, left } = processesLeft();
  // It has to get so far that it starts something, and on a machine with much else to do that may take a while.
  for (let seconds = 1; !(left() > 1); seconds *= 3) {
    const outcome = call(['hang'], { timeoutSeconds: seconds, log });
    const { ok, ...told } = await withinMachineTime('ending it', (seconds + 5) * 1_000, outcome);
    assert.equal(ok || ('code' in told && told.code), 'capability_backend_unavailable');
  }
  await gone(left());
});

test('C2 a process that outlives its bridge and holds its output makes the answer void, in bounded time', async () => {
  const { log, left } = processesLeft();
  // What holds the output lets go of it after ten minutes.
  const outcome = await call(['fork that holds'], { log });
  assert.equal(outcome.ok || outcome.code, 'capability_backend_unavailable');
  // It left the group and its parent is gone: nobody can find it but its own number.
  process.kill(left(), 'SIGKILL');
});

test('C2 a process that a bridge leaves behind is ended with the call', async () => {
  const outcome = await call(['fork that stays']);
  assert.ok(outcome.ok);
  await gone(Number(outcome.value.output['left']));
});

test('C7 a code that a provider may answer with is passed on with its sentence', async () => {
  assert.deepEqual(await call(['error', 'capability_auth_flow_denied']), {
    ok: false,
    code: 'capability_auth_flow_denied',
    message: 'as the provider says',
  });
});

test('C2 a call that is stopped ends its process and throws the reason', async () => {
  const stop = new AbortController();
  const outcome = call(['hang'], { signal: stop.signal });
  stop.abort(new Error('stopped'));
  await assert.rejects(outcome, /stopped/);
});

test('C2 Q7 a bridge ends with a bot that is killed, and what it started with it', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-bridge-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'pids');
  const source = path.join(import.meta.dirname, '../../../src');
  const hangs = 'trap "" TERM HUP; sleep 100 & echo $$ $! > "$0"; while :; do sleep 100; done';
  const bot = spawn(process.execPath, [
    '--input-type=module-typescript',
    '--eval',
    `import { runProgram } from ${JSON.stringify(`${source}/lib/processes/run-program.ts`)};
     import { createEndWithUs } from ${JSON.stringify(`${source}/lib/processes/end-with-us.ts`)};
     import { existsSync, statSync } from 'node:fs';
     const file = ${JSON.stringify(file)};
     void runProgram({
       command: ['sh', '-c', ${JSON.stringify(hangs)}, file], input: '', timeoutMs: 60_000,
       env: { PATH: process.env.PATH }, signal: new AbortController().signal, endWithUs: createEndWithUs({ warn() {} }),
     });
     while (!existsSync(file) || statSync(file).size === 0) await new Promise((resolve) => setImmediate(resolve));
     process.kill(process.pid, 'SIGKILL');`,
  ]);
  assert.deepEqual(await once(bot, 'exit'), [null, 'SIGKILL']);
  const pids = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
  assert.equal(pids.length, 2);
  for (const pid of pids) await gone(pid);
});

/** The number that a bridge said it left behind, from what the log tells of its last words. */
function processesLeft() {
  const log = quietLog();
  return { log, left: () => Number(/pid=(\d+)/.exec(JSON.stringify(log.lines))?.[1]) };
}

async function gone(pid: number): Promise<void> {
  assert.ok(pid > 1);
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await setTimeout(5);
  }
}
