import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { findServiceManager } from '../../src/operator/health/notify-systemd.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';

const { PATH = '' } = process.env;
const here = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const missing = ['systemd-notify', 'python3'].find((program) => !here(program));
const skip = missing === undefined ? false : `${missing} is not here, and Node has no datagram sockets`;

/** systemd's end of the socket: each datagram is a JSON line. */
const listener = `
import array, json, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('"bound"', flush=True)
while True:
    data, ancillary, _, _ = s.recvmsg(65536, 1024)
    for _, _, fds in ancillary:
        for fd in array.array('i', fds): os.close(fd)
    print(json.dumps(data.decode()), flush=True)
`;

/** Listens until the test ends. `heard` resolves with the first datagram, past or to come, that holds all of this. */
async function listen(t: TestContext, folder: string) {
  const socket = path.join(folder, 'notify');
  const child = spawn('python3', ['-c', listener, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const said: string[] = [];
  const waiting = new Set<() => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    said.push(JSON.parse(line) as string);
    for (const look of waiting) look();
  });
  await once(lines, 'line');
  const heard = (...words: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = said.find((one) => words.every((word) => one.split('\n').includes(word)));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { socket, heard, said };
}

test(
  'L11 systemd hears that the bot is ready, that its loop turns, and that it stops',
  { skip },
  async (t) => {
    const home = await openCliHome(t);
    const { socket, heard, said } = await listen(t, home.folder);
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' };
    const bot = await startRunningBot(t, home, '', [], env);
    await heard('READY=1');
    await heard('WATCHDOG=1');
    assert.equal(said.indexOf('WATCHDOG=1') > said.findIndex((one) => one.startsWith('READY=1')), true);
    assert.equal(await bot.end(), 0);
    await heard('STOPPING=1');
  },
);

test('L11 without a watchdog of its own process systemd hears no beat', { skip }, async (t) => {
  const home = await openCliHome(t);
  const { socket, heard, said } = await listen(t, home.folder);
  const env = { NOTIFY_SOCKET: socket, PATH, WATCHDOG_USEC: '1000', WATCHDOG_PID: '1' };
  const manager = findServiceManager(env, quietLog());
  await manager?.ready();
  await manager?.stopping();
  await heard('STOPPING=1');
  assert.deepEqual(
    said.filter((one) => one.includes('WATCHDOG')),
    [],
  );
});

test('L11 the bot works on if systemd can not be told, and says how to change the unit', async () => {
  const log = quietLog();
  assert.equal(findServiceManager({ PATH }, log), undefined);
  assert.equal(log.lines.length, 0);
  assert.equal(findServiceManager({ NOTIFY_SOCKET: '/nowhere', PATH: '/nowhere' }, log), undefined);
  assert.match(log.lines[0]?.message ?? '', /systemd-notify is not on PATH: write Type=exec/);
});

test('L11 a socket that is gone is logged, no more', { skip }, async (t) => {
  const log = quietLog();
  const home = await openCliHome(t);
  const env = { NOTIFY_SOCKET: path.join(home.folder, 'gone'), PATH };
  await findServiceManager(env, log)?.ready();
  assert.match(log.lines[0]?.message ?? '', /could not report the state/);
});

test('S15 a service manager that never listens holds up neither the start nor the stop', async (t) => {
  const home = await openCliHome(t);
  await writeFile(path.join(home.folder, 'systemd-notify'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  const log = quietLog();
  const env = { NOTIFY_SOCKET: path.join(home.folder, 'nobody'), PATH: `${home.folder}:/usr/bin:/bin` };
  const manager = findServiceManager(env, log);
  await Promise.all([manager?.ready(), manager?.stopping()]);
  assert.equal(log.lines.filter(({ message }) => message.includes('could not report the state')).length, 2);
});
