import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Target = Readonly<{ host: string; port: number }>;

/** A TCP load balancer: each connection goes to the next target that is switched on. */
export type TcpBalancer = Readonly<{
  host: string;
  port: number;
  /** New connections go only to these; open connections are cut, as when an address moves (failover). */
  moveTo(targets: readonly Target[]): void;
  /** Takes a target out and cuts its connections, or puts it back. */
  switch(target: Target, on: boolean): void;
  /** Connections so far, by target. */
  counts(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}>;

/** Without a target, connections are closed. `host`: where it listens. */
export async function startTcpBalancer(
  targets: readonly Target[] = [],
  { host = '127.0.0.1', port = 0 } = {},
): Promise<TcpBalancer> {
  const state = { targets, next: 0 };
  const off = new Set<string>();
  const counts = new Map<string, number>();
  const open = new Map<Socket, Readonly<{ name: string; far: Socket }>>();

  const server = createServer((near) => {
    const on = state.targets.filter((target) => !off.has(nameOf(target)));
    const target = on[state.next++ % Math.max(1, on.length)];
    if (target === undefined) return void near.destroy();
    const name = nameOf(target);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const far = connect({ ...target, noDelay: true });
    open.set(near, { name, far });
    near.on('close', () => open.delete(near));
    join(near, far);
  });
  server.listen(port, host);
  await once(server, 'listening');

  function cut(which: (name: string) => boolean): void {
    for (const [near, { name, far }] of open) {
      if (!which(name)) continue;
      near.destroy();
      far.destroy();
    }
  }

  return {
    host,
    port: (server.address() as AddressInfo).port,
    moveTo(moved) {
      state.targets = moved;
      cut((name) => moved.every((target) => nameOf(target) !== name));
    },
    switch(target, on) {
      const name = nameOf(target);
      if (on) return void off.delete(name);
      off.add(name);
      cut((other) => other === name);
    },
    counts: () => counts,
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut(() => true);
      await closed;
    },
  };
}

const nameOf = ({ host, port }: Target): string => `${host}:${port}`;

/** An end of one side is the end of the other, after what it still has to send; a reset cuts it. */
function join(near: Socket, far: Socket): void {
  near.setNoDelay(true);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => other.end());
  }
}
