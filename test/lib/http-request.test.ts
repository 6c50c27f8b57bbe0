import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { httpRequest, type HttpAnswer } from '../../src/lib/net/http-request.ts';
import { startWebSite } from '../servers/web-site.ts';

const site = await startWebSite((_, answer) => void answer.writeHead(200, { 'x-a': '1' }).end('plain'));
after(site.close);

function get(url: string, more: Partial<Parameters<typeof httpRequest>[1]> = {}): Promise<HttpAnswer> {
  const signal = new AbortController().signal;
  return httpRequest(new URL(url), { headers: {}, maxBytes: 1_000, connect: site.connect, signal, ...more });
}

/** An https server whose certificate is for `good.test` and signed by itself; nothing where openssl is not installed. */
async function serveTls(
  t: TestContext,
): Promise<Readonly<{ port: number; cert: string; names: unknown[] }> | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-tls-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const made = await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=good.test', '-addext', 'subjectAltName=DNS:good.test', '-keyout', key, '-out', cert],
  ]).then(
    () => true,
    () => false,
  );
  if (!made) return undefined;
  const files = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  const names: unknown[] = [];
  const server = createServer(files, (asked, answer) => {
    names.push((asked.socket as TLSSocket).servername);
    answer.end('over TLS');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, cert: files.cert, names };
}

test('T3 https: the certificate must be valid and name the host, and the host is told which name is meant', async (t) => {
  const tls = await serveTls(t);
  if (tls === undefined) return t.skip('openssl is not installed');
  const unknown = await get(`https://good.test:${tls.port}/`);
  assert.deepEqual(unknown, {
    ok: false,
    code: 'broken',
    message: 'good.test has no valid certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, tls.cert]);
  t.after(() => setDefaultCACertificates(before));
  const good = await get(`https://good.test.:${tls.port}/`);
  assert.ok(good.ok);
  assert.equal(String(good.body), 'over TLS');
  assert.deepEqual(tls.names, ['good.test']);
  const other = await get(`https://other.test:${tls.port}/`);
  assert.equal(
    !other.ok && other.message,
    'other.test has no valid certificate (ERR_TLS_CERT_ALTNAME_INVALID)',
  );
  const address = await get(`https://127.0.0.1:${tls.port}/`);
  assert.match(String(!address.ok && address.message), /^127\.0\.0\.1 has no valid certificate/);
});

test('T3 a host that speaks no TLS is told apart', async () => {
  const said = await get(`https://site.test:${site.port}/`);
  assert.match(
    String(!said.ok && said.message),
    /^site\.test (does not speak TLS as it should|ended the connection)/,
  );
});

test('T3 a body that is not wanted is not read, one that is longer is cut', async () => {
  const skipped = await get(site.url('/'), {
    wants: (status, headers) => status !== 200 || headers['x-a'] !== '1',
  });
  assert.ok(skipped.ok && skipped.body.length === 0 && !skipped.cut);
  const cut = await get(site.url('/'), { maxBytes: 3 });
  assert.ok(cut.ok && cut.cut);
  assert.equal(String(cut.body), 'pla');
});

test('T3 a signal ends it at any point', async () => {
  const before = await get(site.url('/'), { signal: AbortSignal.abort() });
  assert.equal(!before.ok && before.code, 'cancelled');
});

test('T3 a signal ends an answer that is still coming, and that is no fault of the host', async (t) => {
  const begun = Promise.withResolvers<() => void>();
  const slow = await startWebSite((_, answer) => {
    answer.writeHead(200).write('first');
    begun.resolve(() => void answer.end(' and the rest'));
  });
  t.after(slow.close);
  const stop = new AbortController();
  const came = get(slow.url('/'), { signal: stop.signal, connect: slow.connect });
  const end = await begun.promise;
  stop.abort();
  end();
  const answer = await came;
  assert.equal(answer.ok || answer.code, 'cancelled');
});
