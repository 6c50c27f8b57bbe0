import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { childEnv } from '../support/child-env.ts';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import { listedTool, makeToolFile } from '../servers/mcp/tool-files.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { cliPath } from '../support/cli-path.ts';
import { until } from '../support/until.ts';
import { startWholeBot, type WholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const run = promisify(execFile);
const open =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n';
const isRun = ({ system }: MessagesRequest): boolean =>
  JSON.stringify(system).includes('You carry out the skill');
const toolsOf = ({ tools = [] }: MessagesRequest): readonly string[] =>
  tools.map(({ name }) => name).filter((name) => name.startsWith('mcp_'));
const use = (name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }],
});

type Script = Extract<NonNullable<WholeBotOptions['script']>, (...of: never) => unknown>;

/** Calls one tool and says what came of it. */
function caller(name: string): Script {
  return ({ messages, tools = [] }) => {
    const last = JSON.stringify(messages.at(-1));
    if (last.includes('tool_result')) return `It says: ${/error [A-Z_]+|\{[^}]*\}/.exec(last)?.[0] ?? last}`;
    return tools.some((tool) => tool.name === name) ? use(name, { of: 'owls' }) : 'I have no such tool.';
  };
}

async function connected({ log }: WholeBot, server: string): Promise<void> {
  await log.line(
    ({ message, fields }) => message === 'an MCP server is connected' && fields['server'] === server,
  );
}

/** What a command of `skillet` prints beside this bot. */
async function skillet({ home }: WholeBot, ...args: readonly string[]): Promise<string> {
  const config = ['--config', path.join(home, 'config.toml')];
  return (await run(process.execPath, [cliPath, ...args, ...config], { env: childEnv(home) })).stdout;
}

test('X7 T8 the owner uses a tool of an MCP server in private, after a yes; nobody else, and nowhere else', async (t) => {
  const script = await makeToolFile(t, { tools: [listedTool('echo')] });
  const bot = await startWholeBot(t, {
    toml: `${open}[mcp.files]\n${script.toml}`,
    script: caller('mcp_files_echo'),
  });
  await connected(bot, 'files');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  const bob = bot.telegram.person({ name: 'Bob', id: 7 });
  const room = bot.telegram.group({ title: 'Team' });
  bob.says('echo owls');
  await bob.dm.nextMessage('I have no such tool.');
  ann.says('@test_bot echo owls', { in: room });
  await room.nextMessage('I have no such tool.');
  ann.says('echo owls');
  const question = await ann.dm.nextMessage(/I want to use.*mcp_files_echo/s);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage(/It says: .*owls/);
});

test('X7 T5 a run has the tools of an HTTP server that its skill lists by glob; a config edit ends that at once', async (t) => {
  const http = await serveTools(t, {
    tools: [listedTool('echo', { annotations: { readOnlyHint: true } }), listedTool('other')],
  });
  const web = (more: string) =>
    `${open}[mcp.web]\nurl = "${http.url}"\ntrusted = true\nmain = false\n${more}`;
  const bot = await startWholeBot(t, {
    toml: web(''),
    skills: {
      shelf: '---\nname: shelf\ndescription: The shelf.\nallowed_tools: [mcp_web_e*]\n---\nUse it.\n',
    },
    script: (body, index) => {
      if (isRun(body)) return caller('mcp_web_echo')(body, index);
      const last = JSON.stringify(body.messages.at(-1));
      if (!last.includes('tool_result')) return use('use_skill', { skill: 'shelf', message: 'go' });
      return /It says: .*owls/.test(last) ? 'The shelf has owls.' : 'The shelf is shut.';
    },
  });
  await connected(bot, 'web');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  ann.says('what is on the shelf?');
  await ann.dm.nextMessage('The shelf has owls.');
  const bodies = bot.messages.requests.map(({ body }) => body);
  assert.deepEqual(bodies.filter(isRun).map(toolsOf)[0], ['mcp_web_echo']);
  assert.deepEqual(toolsOf(bodies[0]!), [], 'main = false');
  await bot.reconfigure(web(`users = ["telegram:7"]\n[mcp.late]\n${http.toml}`));
  await connected(bot, 'late');
  await bot.log.line(({ message }) => message.startsWith('the config was changed'));
  ann.says('and now?');
  await ann.dm.nextMessage('The shelf is shut.');
});

test('T8 X7 "Always" means the tool as it was: with another description that the operator agreed to, a person is asked anew', async (t) => {
  const script = await serveTools(t, { tools: [listedTool('echo')] });
  const toml = `${open}[mcp.files]\n${script.toml}`;
  const bot = await startWholeBot(t, { toml, script: caller('mcp_files_echo') });
  await connected(bot, 'files');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  ann.says('echo owls');
  ann.presses((await ann.dm.nextMessage(/I want to use.*mcp_files_echo/s)).id, 'Always');
  await ann.dm.nextMessage(/It says: .*owls/);
  ann.says('echo owls');
  await ann.dm.nextMessage(/It says: .*owls/);
  assert.doesNotMatch(JSON.stringify(await bot.bot.operate('policy list')), /"counts":false/);
  await script.write({ tools: [listedTool('echo', { description: 'Does echo, and more.' })] });
  await ann.dm.nextMessage(/off until you approve/);
  await skillet(bot, 'mcp', 'agree', 'files', '--yes');
  assert.match(await skillet(bot, 'policy', 'list'), /mcp_files_echo {2}for telegram:42 .*\(has no effect: /);
  ann.says('echo owls');
  const question = await ann.dm.nextMessage(/I want to use.*mcp_files_echo/s);
  ann.presses(question.id, 'Deny');
  await ann.dm.nextMessage(/TOOL_POLICY_DENIED.*said no/);
});

test('X7 Q9 H14 a tool that changed goes off, the owner is told, and `skillet mcp agree` switches it on in the running bot', async (t) => {
  const script = await serveTools(t, { tools: [listedTool('echo'), listedTool('read')] });
  const toml = `${open}[policy]\ndangerous = "allow"\n[mcp.files]\n${script.toml}`;
  const bot = await startWholeBot(t, { toml, script: caller('mcp_files_echo') });
  await connected(bot, 'files');
  const ann = bot.telegram.person({ name: 'Ann', id: 42, language: 'de' });
  ann.says('echo owls');
  await ann.dm.nextMessage(/It says: .*owls/);
  await script.write({
    tools: [listedTool('echo', { description: 'Does echo, and more.\u001b[2J' }), listedTool('read')],
  });
  const notice = await ann.dm.nextMessage(/sind aus, bis du zustimmst/);
  assert.match(
    notice.text,
    /mcp_files_echo.* ist nicht mehr das, dem du zugestimmt hast.*skillet mcp agree files/s,
  );
  ann.says('echo owls');
  await ann.dm.nextMessage('I have no such tool.');
  const list = await skillet(bot, 'mcp', 'list');
  assert.match(
    list,
    /^files {2}connected since \d+ s\n {2}off: changed +dangerous mcp_files_echo {2}Does echo, and more/,
  );
  assert.match(list, /\n {2}on +dangerous mcp_files_read /);
  const agreed = await skillet(bot, 'mcp', 'agree', 'files', 'echo', '--yes');
  assert.match(agreed, /- description {2}Does echo\.\n.*\+ description {2}Does echo, and more/s);
  assert.ok(!agreed.includes('\u001b'), 'nothing that steers a terminal');
  ann.says('echo owls');
  await ann.dm.nextMessage(/It says: .*owls/);
});

test('M13 X7 a server that changes its tools in the middle of a conversation takes the thinking behind them along, and nothing else', async (t) => {
  const http = await serveTools(t, { tools: [listedTool('echo')] });
  let count = 0;
  const bot = await startWholeBot(t, {
    toml: `${open}[mcp.web]\n${http.toml}trusted = true\n`,
    script: ({ messages }) => ({
      content: [
        { type: 'thinking', thinking: `thought ${++count}` },
        { type: 'text', text: `${messages.length} messages` },
      ],
    }),
  });
  await connected(bot, 'web');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  const says = async (words: string, messages: number): Promise<readonly string[]> => {
    ann.says(words);
    await ann.dm.nextMessage(`${messages} messages`);
    const { body } = bot.messages.requests.at(-1) ?? {};
    return JSON.stringify(body?.messages).match(/thought \d/g) ?? [];
  };
  assert.deepEqual(await says('one', 1), []);
  assert.deepEqual(await says('two', 3), ['thought 1']);
  await http.write({ tools: [listedTool('echo'), listedTool('read')] });
  await until(async () => JSON.stringify(await bot.bot.operate('mcp list')).includes('"name":"read"'));
  assert.deepEqual(await says('three', 5), [], 'thinking went back behind other tools');
  assert.deepEqual(await says('four', 7), ['thought 3']);
  assert.deepEqual(bot.messages.refused, []);
  assert.deepEqual(
    bot.messages.requests.map(({ body }) => toolsOf(body).length),
    [1, 1, 2, 2],
  );
});

test(
  'Q7 X7 a server ends with the bot, after the work of the bot has ended',
  { skip: !existsSync('/proc') },
  async (t) => {
    const script = await makeToolFile(t, { tools: [listedTool('echo')] });
    const bot = await startWholeBot(t, { toml: `${open}[mcp.files]\n${script.toml}` });
    await connected(bot, 'files');
    const running = (): boolean =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .some((pid) => {
          try {
            return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(script.file);
          } catch {
            // It ended meanwhile.
            return false;
          }
        });
    assert.ok(running());
    await bot.bot.close();
    assert.ok(!running());
  },
);

test('M20 X7 among many tools of a server the model finds the one it needs, and nobody finds those that are not theirs', async (t) => {
  const more = Array.from({ length: 60 }, (_, n) => listedTool(`other_${n}`));
  const echo = listedTool('echo', { description: 'Repeats owls.', annotations: { readOnlyHint: true } });
  const script = await makeToolFile(t, { tools: [...more, echo] });
  for (const search of ['model', 'own']) {
    const bot = await startWholeBot(t, {
      toml: `tool_search = "${search}"\n${open}[mcp.files]\n${script.toml}trusted = true\n`,
      script(body, index) {
        const { messages, tools = [] } = body;
        const last = JSON.stringify(messages.at(-1));
        if (tools.some(({ name }) => name === 'mcp_files_echo')) return caller('mcp_files_echo')(body, index);
        if (!tools.some(({ name }) => name === 'tools_search')) return 'I have no search.';
        return last.includes('tool_result') ? 'I found none.' : use('tools_search', { query: 'repeat owls' });
      },
    });
    await connected(bot, 'files');
    const ann = bot.telegram.person({ name: 'Ann', id: 42 });
    const bob = bot.telegram.person({ name: 'Bob', id: 7 });
    bob.says('echo owls');
    await bob.dm.nextMessage('I have no search.');
    ann.says('echo owls');
    await ann.dm.nextMessage(/It says: .*owls/);
    const { tools = [] } = bot.messages.requests.find(({ body }) => toolsOf(body).length > 0)?.body ?? {};
    const deferred = tools.filter((tool) => tool.defer_loading === true).length;
    assert.deepEqual(
      [deferred, toolsOf({ tools } as MessagesRequest).length],
      search === 'model' ? [61, 61] : [0, 1],
    );
    assert.deepEqual(bot.messages.refused, []);
  }
});
