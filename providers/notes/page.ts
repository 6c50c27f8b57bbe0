/**
 * The page on which a person links a notebook, started by the operator: `node providers/notes/page.ts`. It is a small
 * authorization server on the loopback address: `authorize` with state and PKCE, `device` with a code to type, `token`.
 * What is under way is kept in memory, for ten minutes.
 */
import { createServer } from 'node:http';
import { end, readOptions } from './command-line.ts';
import { createGrants } from './grants.ts';
import { createPageHandler } from './page-handler.ts';

const { listen } = readOptions({ listen: '127.0.0.1:8765' });
const [, host, port] = /^(127(?:\.\d{1,3}){3}|localhost):(\d{1,5})$/.exec(listen) ?? [];
if (host === undefined || Number(port) > 65_535)
  end(2, `the page is for this computer alone: --listen 127.0.0.1:8765, not ${listen}`);

const server = createServer();
server.on('error', (error) => end(1, `--listen ${listen}: ${error.message}`));
server.listen(Number(port), host, () => {
  const address = server.address();
  const own = `${host}:${typeof address === 'object' ? address?.port : port}`;
  server.on(
    'request',
    createPageHandler(
      createGrants(() => Date.now()),
      own,
    ),
  );
  console.log(`The page of the notebook is at http://${own}`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => server.close().closeAllConnections());
