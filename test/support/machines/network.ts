import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A stand-in for a machine: a network, mounts and a disk of its own, reached over a bridge. It outlives what runs on it. */
export type Machine = Readonly<{
  name: string;
  /** A folder that only this machine has; all others can be read there, and not written. */
  folder: string;
  /** How others than itself reach a path in that folder. */
  reach(inside: string): string;
  /** What is written before a command to run it there. */
  within: readonly string[];
  /** Nothing passes between it and the database any more, in either direction. */
  cutOff(): void;
  rejoin(): void;
  close(): Promise<void>;
}>;

/** The machines' addresses: of what they all reach, and of the database. */
export const hostAddress = '10.77.0.1';
export const databaseAddress = '10.77.0.2';

/** Set for the process that has a network of its own. */
const ownNetwork = 'SKILLET_TEST_OWN_NETWORK';
const namespaces = ['--net', '--mount', '--propagation', 'private'];

const attempt = `ip link add br0 type bridge && ip link add veth0 type veth peer name veth1 && iptables -A INPUT -s 10.77.0.9 -j DROP`;

/** Why machines can't be played here, or false. */
export function noMachines(): string | false {
  const fix = 'apt-get install iproute2 iptables util-linux';
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'machines are network namespaces: this needs Linux and root';
  const tried = spawnSync('unshare', [...namespaces, 'sh', '-c', attempt], { encoding: 'utf8' });
  return tried.status === 0
    ? false
    : `no network namespaces (${fix}): ${tried.stderr || String(tried.error)}`;
}

/** Runs this very program in a network of its own; gives its exit code, or nothing if this is that run. */
export async function runInOwnNetwork(): Promise<number | undefined> {
  if (process.env[ownNetwork] === '1') return undefined;
  const child = spawn(
    'unshare',
    [...namespaces, process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    {
      env: { ...process.env, [ownNetwork]: '1' },
      stdio: 'inherit',
    },
  );
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

/** The bridge. All of it is gone with the process, because its namespace is. */
export function createBridge(): void {
  ip('link set lo up');
  ip('link add br0 type bridge');
  for (const address of [hostAddress, databaseAddress]) ip(`addr add ${address}/24 dev br0`);
  ip('link set br0 up');
}

/** Lives as long as its standard input is open. All mounts but its own folder are read-only. */
const machine = `
while read -r _ _ _ _ at _; do
  case $at in /proc*|/sys*|/dev|/dev/pts) ;; *) mount -o remount,bind,ro "$at" || exit ;; esac
done </proc/self/mountinfo
mount -t tmpfs tmpfs "$1" && echo up && read -r _`;

export async function startMachine(name: string, number: number): Promise<Machine> {
  const folder = mkdtempSync(path.join(tmpdir(), `skillet-machine-${name}-`));
  const keeper = spawn('unshare', [...namespaces, 'sh', '-c', machine, 'sh', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { pid } = keeper;
  if (pid === undefined) throw new Error('unshare did not start');
  await Promise.race([
    once(keeper.stdout, 'data'),
    once(keeper, 'exit').then(() => Promise.reject(new Error(`machine ${name} did not start`))),
  ]);
  const address = `10.77.0.${10 + number}`;
  ip(`link add veth-${name} type veth peer name eth0 netns ${pid}`);
  ip(`link set veth-${name} master br0 up`);
  for (const command of ['link set lo up', `addr add ${address}/24 dev eth0`, 'link set eth0 up'])
    execFileSync('nsenter', ['--target', `${pid}`, '--net', 'ip', ...command.split(' ')]);
  const firewall = (how: '--append' | '--delete'): void => {
    execFileSync('iptables', [how, 'INPUT', '-s', address, '-d', databaseAddress, '-j', 'DROP']);
    execFileSync('iptables', [how, 'OUTPUT', '-s', databaseAddress, '-d', address, '-j', 'DROP']);
  };
  return {
    name,
    folder,
    reach: (inside) => `/proc/${pid}/root${inside}`,
    within: ['nsenter', '--target', `${pid}`, '--net', '--mount', '--', 'env', `TMPDIR=${folder}`],
    cutOff: () => firewall('--append'),
    rejoin: () => firewall('--delete'),
    async close() {
      if (keeper.exitCode === null && keeper.signalCode === null) {
        keeper.stdin.end();
        await once(keeper, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ip(command: string): void {
  execFileSync('ip', command.split(' '));
}
