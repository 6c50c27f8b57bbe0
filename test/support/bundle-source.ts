import { chmodSync } from 'node:fs';
import path from 'node:path';
import { put, skillText } from '../skills/make-root.ts';

const schemas = 'https://agent-plugins.org/schemas/1.0.0';

/** A server of one tool without any package. It writes down in its data folder what it was started with. */
const server = `import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const { PLUGIN_DATA, PLUGIN_ROOT } = process.env;
writeFileSync(PLUGIN_DATA + '/started.json', JSON.stringify({ env: process.env, cwd: process.cwd(), args: process.argv.slice(2), root: PLUGIN_ROOT }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'check', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'check', description: 'Checks.', inputSchema: { type: 'object' } }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }) + '\\n');
}
`;

type Servers = Readonly<Record<string, object>>;

/** A package of Agent Plugins with a skill and a server whose program is in it. Returns its folder. */
export function agentPackage(home: string, more: Servers = {}): string {
  const source = path.join(home, 'source');
  put(
    source,
    'plugin.json',
    JSON.stringify({ $schema: `${schemas}/plugin.schema.json`, name: 'acme.tools' }),
  );
  put(source, 'skills/deploy/SKILL.md', skillText('name: deploy\ndescription: Does deploy.'));
  const local = {
    ...{ type: 'stdio', command: './bin/check', args: ['--data', '${PLUGIN_DATA}/x'] },
    env: { CONFIG: '${PLUGIN_ROOT}/c.json' },
  };
  const mcpServers = { local, ...more };
  put(source, 'mcp.json', JSON.stringify({ $schema: `${schemas}/mcp.schema.json`, mcpServers }));
  put(source, 'c.json', '{}');
  put(source, 'bin/server.mjs', server);
  put(source, 'bin/check', '#!/bin/sh\nexec node "$PLUGIN_ROOT/bin/server.mjs" "$@"\n');
  chmodSync(path.join(source, 'bin/check'), 0o755);
  return source;
}

/** A bundle of Claude Code whose server is started by node. Returns its folder. */
export function claudeBundle(home: string, more: Servers = {}): string {
  const source = path.join(home, 'claude');
  put(source, '.claude-plugin/plugin.json', JSON.stringify({ name: 'flow' }));
  const own = { command: 'node', args: ['${CLAUDE_PLUGIN_ROOT}/server.mjs'] };
  put(source, '.mcp.json', JSON.stringify({ mcpServers: { own, ...more } }));
  put(source, 'server.mjs', server);
  return source;
}
