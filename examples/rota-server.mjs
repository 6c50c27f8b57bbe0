// An MCP server of one tool, without a library: who is on call. Replace `rota` with a request to your own system.
import { createInterface } from 'node:readline';

const rota = { shop: { name: 'Cleo', phone: '+41 44 000 00 01', until: 'Monday 9:00' } };
const tool = {
  name: 'who',
  description: 'Says who is on call for a service.',
  inputSchema: { type: 'object', properties: { service: { type: 'string' } }, required: ['service'] },
  annotations: { readOnlyHint: true },
};
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'rota', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { service } }) => {
    const found = rota[service];
    const text = found === undefined ? `Nobody is on call for ${service}.` : JSON.stringify(found);
    return { content: [{ type: 'text', text }] };
  },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method];
  const said =
    answer === undefined
      ? { error: { code: -32601, message: 'unknown method' } }
      : { result: answer(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`);
}
