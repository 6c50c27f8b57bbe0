import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createServer } from '../../src/lib/net/node-http.ts';
import type { EgressProxyOptions } from '../../src/sandbox/open-egress-proxy.ts';
import type { Sandbox, SandboxLimits } from '../../src/sandbox/sandbox.ts';
import { contractLimits, exited, makeGround, requestOf, type Ground } from './sandbox-contract.ts';

/** What sandboxes do that lead commands to declared hosts. `beside` is where the socket of a way out may be made. */
export function testSandboxNetwork(
  name: string,
  options: Readonly<{
    open(limits: SandboxLimits, wayOut: EgressProxyOptions, beside: string): Sandbox;
    skip: string | false;
  }>,
): void {
  const { open, skip } = options;
  const roots: string[] = [];
  const heard: (string | undefined)[] = [];
  const server = createServer((asked, answer) => {
    heard.push(asked.headers.host);
    answer.end('the page');
  });
  const made: { port: number; beside: string; ground?: Ground; sandbox?: Sandbox } = { port: 0, beside: '' };

  before(async () => {
    if (skip !== false) return;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    made.port = (server.address() as AddressInfo).port;
    made.ground = await makeGround(roots);
    made.beside = path.join(made.ground.beside, 'ways');
    await mkdir(made.beside);
    const wayOut: EgressProxyOptions = {
      beside: made.beside,
      ports: [made.port],
      connect: { mayReach: () => true, lookup: async () => [{ address: '127.0.0.1', family: 4 }] },
    };
    made.sandbox = open(contractLimits, wayOut, made.beside);
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await made.sandbox?.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });

  async function node(script: string, network: readonly string[]): Promise<ReturnType<typeof exited>> {
    assert.ok(made.ground && made.sandbox);
    const argv = ['node', '-e', script] as const;
    return exited(await made.sandbox.run(requestOf(made.sandbox, made.ground, { argv, network })));
  }

  test(
    `T9 ${name}: a skill reaches the hosts that it declares through the proxy, and no others`,
    { skip },
    async () => {
      const script = `
    const ask = async (host) => {
      try { const answer = await fetch('http://' + host + ':${made.port}/'); console.log(host, answer.status, await answer.text()); }
      catch (error) { console.log(host, 'failed', String(error.cause?.message ?? error)); }
    };
    await ask('api.example.test'); await ask('other.test');
    const socket = require('node:net').connect(${made.port}, '127.0.0.1');
    socket.on('error', (error) => console.log('direct', error.code)).on('connect', () => console.log('direct connected'));`;
      const { stdout, stderr, refused } = await node(`(async () => {${script}})()`, ['*.example.test']);
      assert.match(stdout, /^api\.example\.test 200 the page$/m, stderr);
      assert.match(stdout, /^other\.test (failed|403)/m);
      assert.match(stdout, /^direct ECONNREFUSED$/m);
      assert.deepEqual(heard, [`api.example.test:${made.port}`]);
      assert.deepEqual(refused, [`other.test:${made.port} (other.test is not declared)`]);
    },
  );

  test(`T9 ${name}: with a way out exit codes, signals and streams are as without`, { skip }, async () => {
    const { exitCode, stdout, stderr } = await node(
      'console.log(1); console.error(2); process.exitCode = 9',
      ['a.test'],
    );
    assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 9, stdout: '1\n', stderr: '2\n' });
    assert.equal((await node('process.kill(process.pid, "SIGTERM")', ['a.test'])).exitCode, 143);
  });

  test(
    `T9 ${name}: of a way out nothing is left on the host, and without hosts there is none`,
    { skip },
    async () => {
      const before = await readdir(made.beside);
      const { stdout: socket } = await node(
        "console.log(require('fs').statSync('/run/skillet/proxy.sock').isSocket())",
        ['a.test'],
      );
      assert.equal(socket, 'true\n');
      assert.deepEqual(await readdir(made.beside), before);
      const { stdout } = await node(
        'console.log(process.env.HTTP_PROXY, require("fs").readdirSync("/run/skillet"))',
        [],
      );
      assert.equal(stdout, "undefined [ 'bin' ]\n");
    },
  );
}
