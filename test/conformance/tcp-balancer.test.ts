import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startTcpBalancer, type Target } from '../support/tcp-balancer.ts';

const host = '127.0.0.1';

/** Says its name. */
async function startTarget(t: TestContext, name: string): Promise<Target> {
  const server = createServer((_, response) => void response.end(name.repeat(100_000)));
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { host, port: (server.address() as AddressInfo).port };
}

function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    get({ host, port, agent: false }, (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => (said += chunk.toString()));
      response.on('end', () => resolve(`${said[0]} ${said.length}`));
    }).on('error', () => resolve('cut'));
  });
}

test('the balancer of the tests goes round, leaves out what is off, and moves with its open connections', async (t) => {
  const a = await startTarget(t, 'a');
  const b = await startTarget(t, 'b');
  const balancer = await startTcpBalancer([a, b]);
  t.after(() => balancer.close());
  const thrice = async () => [await ask(balancer.port), await ask(balancer.port), await ask(balancer.port)];
  assert.deepEqual(await thrice(), ['a 100000', 'b 100000', 'a 100000']);
  balancer.switch(a, false);
  assert.deepEqual(await thrice(), ['b 100000', 'b 100000', 'b 100000']);

  const open = connect(balancer.port, host).on('error', () => undefined);
  await once(open, 'connect');
  while ((balancer.counts().get(`${b.host}:${b.port}`) ?? 0) < 5) await new Promise(setImmediate);
  const cut = once(open, 'close');
  balancer.switch(a, true);
  balancer.moveTo([a]);
  await cut;
  assert.deepEqual(await thrice(), ['a 100000', 'a 100000', 'a 100000']);
  balancer.moveTo([]);
  assert.equal(await ask(balancer.port), 'cut');
});
