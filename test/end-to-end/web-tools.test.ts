import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startSearxngServer } from '../servers/search-servers.ts';
import { startWebSite } from '../servers/web-site.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const isRun = ({ system }: MessagesRequest): boolean =>
  JSON.stringify(system).includes('You carry out the skill');
const lastOf = ({ messages }: MessagesRequest): string => JSON.stringify(messages.at(-1));
const toolsOf = ({ tools = [] }: MessagesRequest): readonly string[] => tools.map(({ name }) => name).sort();
const calls = (...uses: readonly (readonly [string, object])[]) => ({
  content: uses.map(([name, input], index) => ({
    type: 'tool_use' as const,
    id: `toolu_${name}_${index}`,
    name,
    input,
  })),
});
const open = '[access]\ndm = "open"\n';

test('T2 T3 S1 the bundled skill research searches, reads, and reaches nothing of this machine', async (t) => {
  const inside = await startWebSite((_, answer) => void answer.end('the secret of this machine'));
  const searxng = await startSearxngServer({
    formats: ['json'],
    results: [{ title: 'Owls', url: inside.url('/owls', '127.0.0.1'), text: 'They hoot.' }],
  });
  t.after(() => Promise.all([inside.close(), searxng.close()]));
  const { telegram, messages } = await startWholeBot(t, {
    toml: `${open}[tools.web_search]\nprovider = "searxng"\nbase_url = "${searxng.baseUrl}"\n`,
    script: (body) => {
      if (!isRun(body)) {
        return /They hoot, says/.test(lastOf(body))
          ? 'Owls hoot.'
          : calls(['use_skill', { skill: 'research', message: 'What do owls do?' }]);
      }
      if (/not on the public internet/.test(lastOf(body))) return 'They hoot, says the search.';
      if (/What the search found/.test(lastOf(body)))
        return calls(['web_fetch', { url: inside.url('/owls', 'localhost') }]);
      return calls(['web_search', { query: 'owls do' }]);
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('what do owls do?');
  await ann.dm.nextMessage('Owls hoot.');
  const run = messages.requests.map(({ body }) => body).find(isRun);
  assert.deepEqual(run && toolsOf(run), ['ask_person', 'skills_read_file', 'web_fetch', 'web_search']);
  assert.deepEqual(searxng.queries, ['owls do']);
  assert.equal(inside.connections(), 0);
});

test('T2 the main agent has the web tools that [agent] tools names, and web_search only with a provider', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: `${open}[agent]\ntools = ["web_fetch", "web_search"]\n`,
    script: (body) =>
      /not on the public internet/.test(lastOf(body))
        ? 'It is private.'
        : calls(['web_fetch', { url: 'http://169.254.169.254/' }]),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('read the metadata');
  await ann.dm.nextMessage('It is private.');
  assert.deepEqual(toolsOf(messages.requests[0]!.body), ['web_fetch']);
});
