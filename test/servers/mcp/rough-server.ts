import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';

/**
 * A process that greets, lists `echo` and then does what its argument says, by hand and not by the book: `node rough-server.ts HOW [PROTOCOL]`.
 * `babble`, `notify` and `complain` flood without an end from the first call on, `rich` answers with more values than are taken, `richer`
 * sends as many as it may again and again, `hang` answers nothing from then on, `words`
 * answers a call with no object, `refuse` answers one with an error of the code -32000, `deep` lists a tool with a schema of
 * 10,000 levels, `list` sends a list that is none, `exits` ends when it is asked what only newer servers know, `silent` then says nothing, `last-words` complains at length and ends.
 */
const [, , how = '', protocol] = process.argv;
const isNewer = protocol === '2026-07-28';
const say = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
/** What the newer protocol adds to each result. */
const more = isNewer ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
let hangs = false;

function flood(out: Writable, chunk: string): void {
  while (out.write(chunk));
  out.once('drain', () => flood(out, chunk));
}

function called(id: unknown): void {
  switch (how) {
    case 'babble':
      return flood(process.stdout, 'y\n'.repeat(30_000));
    case 'notify':
      return flood(
        process.stdout,
        '{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n'.repeat(500),
      );
    case 'complain':
      return flood(process.stderr, `${'no room left on the shelf '.repeat(40_000)}\n`);
    case 'rich':
      return say({ id, result: { ...more, structuredContent: { list: Array<number>(200_000).fill(0) } } });
    case 'richer':
      for (let n = 0; n < 20; n++)
        say({ method: 'notifications/message', params: { list: Array<number>(99_000).fill(0) } });
      return;
    case 'hang':
      hangs = true;
      return;
    case 'refuse':
      return say({ id, error: { code: -32_000, message: 'the shelf is locked' } });
    case 'words':
      return say({ id, result: 'only words' });
    case 'last-words':
      process.stderr.write(`${'x'.repeat(1_000_000)}\nkey sk-rough-0123456789 is no key\n`, () =>
        process.exit(1),
      );
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
  if (hangs || id === undefined) return;
  if (method === 'server/discover' && how === 'exits') process.exit(1);
  else if (method === 'server/discover' && how === 'silent') return;
  else if (method === 'server/discover' && isNewer)
    say({ id, result: { ...more, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } });
  else if (method === 'initialize' && isNewer) say({ id, error: { code: -32_022, message: 'too old' } });
  else if (method === 'initialize')
    say({
      id,
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'rough', version: '1' },
      },
    });
  else if (method === 'tools/list' && how === 'deep')
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${JSON.stringify(more).slice(1, -1)}${isNewer ? ',' : ''}"tools":[${JSON.stringify(tools[0])},` +
        `{"name":"deep","inputSchema":${'{"items":'.repeat(10_000)}{}${'}'.repeat(10_000)}}]}}\n`,
    );
  else if (method === 'tools/list') say({ id, result: { ...more, tools: how === 'list' ? 'none' : tools } });
  else if (method === 'tools/call') called(id);
  else say({ id, result: more });
});
