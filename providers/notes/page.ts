/**
 * The page on which a person links a notebook, started by the operator: `node providers/notes/page.ts`. It is a small
 * authorization server on the loopback address: `authorize` with state and PKCE, `device` with a code to type, `token`.
 * What is under way is kept in memory, for ten minutes.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { createGrants } from './grants.ts';
import { createPageHandler } from './page-handler.ts';

const { values } = parseArgs({ options: { listen: { type: 'string', default: '127.0.0.1:8765' } } });
const [host = '', port = ''] = values.listen.split(':');
if (!/^127\.|^localhost$/.test(host))
  throw new Error('the page is for this computer alone: --listen 127.0.0.1:8765');

const server = createServer();
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
