import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { makePlugin, onePlugin } from '../support/make-plugin.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';
import { equalData } from '../support/equal-data.ts';

const base =
  '[access]\ndm = "open"\ngroups_mode = "open"\n[access.telegram]\ngroup_users = ["*"]\n[skills]\nbundled = false\n';
const skills = { dig: '---\nname: dig\ndescription: Digs.\n---\nDig.\n' };
const listed = (folder: string, more = ''): string => `[[plugins]]\npath = "${folder}"\n${more}\n`;

/** Calls `tool` once where it is offered, and says what it answered; `none` where it is not offered. */
function calling(tool: string, input: unknown = {}) {
  return (request: MessagesRequest): ServerStep => {
    if (!isRun(request) && JSON.stringify(request.messages.at(-1)).includes('<output')) return 'It was done.';
    if (!(request.tools ?? []).some(({ name }) => name === tool)) return `none`;
    const last = JSON.stringify(request.messages.at(-1));
    if (last.includes('"tool_result"'))
      return `answered: ${resultsIn({ ...request, messages: request.messages.slice(-1) }).join()}`;
    return { content: [{ type: 'tool_use', id: `toolu_${request.messages.length}`, name: tool, input }] };
  };
}

const requests = (bot: WholeBot, of: (request: MessagesRequest) => boolean): readonly MessagesRequest[] =>
  bot.messages.requests.map(({ body }) => body).filter(of);
const offers = (request: MessagesRequest, tool: string): boolean =>
  (request.tools ?? []).some(({ name }) => name === tool);

test('X1 a run and the main agent have the tool of a plugin; main = false keeps it from the latter, at once when it is saved', async (t) => {
  const folder = await makePlugin(t, onePlugin("name: 'one_thing'"));
  const bot = await startWholeBot(t, {
    toml: base + listed(folder),
    skills,
    script: calling('one_thing'),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('hello');
  await ann.dm.nextMessage(/answered: .*it ran/);
  await bot.reconfigure(base + listed(folder, 'main = false'));
  const saved = await bot.log.line(({ message }) => message.startsWith('the config was changed'));
  assert.deepEqual(saved.fields['needsRestart'], []);
  ann.says('and now?');
  await ann.dm.nextMessage('none');
  ann.says('/dig');
  await ann.dm.nextMessage();
  const run = requests(bot, isRun);
  assert.ok(run.length > 0 && run.every((request) => offers(request, 'one_thing')));
  assert.match(resultsIn(run.at(-1)!).join(), /it ran/);
});

test('X1 X7 chat_types and users of a plugin: who may not use its tools is offered none, and a call of one is refused', async (t) => {
  const folder = await makePlugin(t, onePlugin("name: 'one_thing'"));
  const bot = await startWholeBot(t, {
    toml: base + listed(folder, 'chat_types = ["private"]\nusers = ["telegram:1001"]'),
    script: (request) =>
      JSON.stringify(request.messages).includes('anyway') &&
      !JSON.stringify(request.messages).includes('tool_result')
        ? { content: [{ type: 'tool_use', id: 'toolu_x', name: 'one_thing', input: {} }] }
        : JSON.stringify(request.messages.at(-1)).includes('TOOL_NOT_ALLOWED')
          ? 'refused'
          : calling('one_thing')(request),
  });
  const ann = bot.telegram.person({ name: 'Ann', id: 1001 });
  const bob = bot.telegram.person({ name: 'Bob', id: 1002 });
  const group = bot.telegram.group();
  ann.says('hello');
  await ann.dm.nextMessage(/answered: .*it ran/);
  bob.says('hello');
  await bob.dm.nextMessage('none');
  ann.says('@test_bot hello', { in: group });
  await group.nextMessage('none');
  bob.says('do it anyway');
  await bob.dm.nextMessage('refused');
});

test('X6 G3 a plugin that is switched off is gone at once; one that is new waits for a restart, and that is said', async (t) => {
  const one = await makePlugin(t, onePlugin("name: 'one_thing'"));
  const two = await makePlugin(t, onePlugin("name: 'two_thing'", { name: 'two' }));
  const bot = await startWholeBot(t, {
    toml: base + listed(one),
    script: calling('one_thing'),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('hello');
  await ann.dm.nextMessage(/answered/);
  await bot.reconfigure(base + listed(one, 'enabled = false') + listed(two));
  const saved = await bot.log.line(({ message }) => message.startsWith('the config was changed'));
  assert.deepEqual(saved.fields['needsRestart'], ['plugins']);
  ann.says('hello');
  await ann.dm.nextMessage('none');
  const again = await bot.restart();
  ann.says('hello');
  await ann.dm.nextMessage('none');
  assert.ok(offers(requests(again, () => true).at(-1)!, 'two_thing'));
});

test('X6 the bot starts without a plugin that is broken: the log says why, and /status tells owners and nobody else', async (t) => {
  const broken = await makePlugin(t, "throw new Error('no key is set: write api_key');");
  const fine = await makePlugin(t, onePlugin("name: 'one_thing'"));
  const bot = await startWholeBot(t, {
    toml: `${base}[bot]\nowner = ["telegram:1001"]\n${listed(broken)}${listed(fine)}`,
    script: calling('one_thing'),
  });
  const said = bot.log.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(
    said.map(({ fields, message }) => [fields, message]),
    [
      [
        { code: 'PLUGIN_BROKEN', path: `${broken}/plugin.ts` },
        `the plugin ${broken} is not loaded: ${broken}/plugin.ts:1: it threw as it was loaded: no key is set: write api_key`,
      ],
    ],
  );
  const ann = bot.telegram.person({ name: 'Ann', id: 1001 });
  const bob = bot.telegram.person({ name: 'Bob', id: 1002 });
  ann.says('/status');
  assert.match((await ann.dm.nextMessage('Model:')).text, /is not loaded: .*no key is set/);
  bob.says('/status');
  assert.doesNotMatch((await bob.dm.nextMessage('Model:')).text, /not loaded/);
  ann.says('hello');
  await ann.dm.nextMessage(/answered: .*it ran/);
});

/** What the plugin's tool noted, in order. */
const seen = (bot: WholeBot): readonly Readonly<Record<string, unknown>>[] =>
  bot.log.lines.filter(({ message }) => message === 'seen').map(({ fields }) => fields);

test('X2 T7 T8 a tool that reaches the network is dangerous: nobody runs it without a yes, the main agent or a skill', async (t) => {
  const folder = await makePlugin(
    t,
    onePlugin(`name: 'order_tea', input: z.object({ kind: z.string() }), requiresNetwork: true,
      run: ({ kind }, { log }) => { log.info({ kind }, 'seen'); return 'ordered'; }`),
  );
  const bot = await startWholeBot(t, {
    toml: base + listed(folder),
    skills,
    script: calling('order_tea', { kind: 'green' }),
    flood: false,
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  const asked = /wants? to use.*order_tea.*kind\s+green/s;
  ann.says('tea, please');
  ann.presses((await ann.dm.nextMessage(asked)).id, 'Deny');
  await ann.dm.nextMessage(/answered: .*TOOL_POLICY_DENIED.*said no/);
  assert.deepEqual(seen(bot), []);
  ann.says('now really');
  ann.presses((await ann.dm.nextMessage(asked)).id, 'Approve');
  await ann.dm.nextMessage(/answered: .*ordered/);
  assert.equal(seen(bot).length, 1);
  ann.says('/dig');
  ann.presses((await ann.dm.nextMessage(/The skill dig wants to use.*order_tea/s)).id, 'Always');
  await ann.dm.nextMessage('It was done.');
  assert.equal(seen(bot).length, 2);
  ann.says('/dig');
  await ann.dm.nextMessage('It was done.');
  assert.equal(seen(bot).length, 3, 'the same skill is not asked for again');
  ann.says('and I?');
  ann.presses((await ann.dm.nextMessage(asked)).id, 'Deny');
  await ann.dm.nextMessage(/TOOL_POLICY_DENIED/);
  assert.equal(seen(bot).length, 3, 'what the skill may the main agent may not');
});

test('X4 what a tool knows of a call: bot, place, sender, skill, settings, and nothing that others wrote', async (t) => {
  const folder = await makePlugin(
    t,
    onePlugin(`name: 'look', settings: z.object({ units: z.enum(['metric', 'imperial']).default('metric') }),
      run(_, context) {
        const { bot, conversation, chatType, sender, skill, settings } = context;
        context.log.info({ tool: 'another', bot, conversation, chatType, sender, skill, settings, keys: Object.keys(context).sort() }, 'seen');
        return 'looked';
      }`),
  );
  const bot = await startWholeBot(t, {
    toml: `${base}${listed(folder)}[tools.look]\nunits = "imperial"\n`,
    skills,
    script: calling('look'),
  });
  const ann = bot.telegram.person({ name: 'Ann', id: 1001 });
  const group = bot.telegram.group();
  ann.says('@test_bot what is set?', { in: group });
  const { chat } = await group.nextMessage(/answered/).then(() => ({ chat: `${group.id}` }));
  ann.says('/dig');
  await ann.dm.nextMessage('It was done.');
  const [inGroup, inRun] = seen(bot);
  const keys = [
    'artifact',
    'bot',
    'chatType',
    'conversation',
    'log',
    'model',
    'progress',
    'sandbox',
    'sender',
    'settings',
    'signal',
    'skill',
    'workspace',
  ];
  const of = {
    plugin: 'one',
    tool: 'look',
    bot: { name: 'Skillet' },
    sender: { id: 'telegram:1001' },
    settings: { units: 'imperial' },
  };
  equalData(inGroup, {
    ...of,
    conversation: { channel: 'telegram', chat },
    chatType: 'group',
    skill: undefined,
    keys,
  });
  assert.deepEqual(inRun, {
    ...of,
    conversation: { channel: 'telegram', chat: '1001' },
    chatType: 'private',
    skill: 'dig',
    keys,
  });
});

test('X4 T13 T10 a tool has the files of its call, by paths as models and commands know them, and no others', async (t) => {
  const folder = await makePlugin(
    t,
    onePlugin(`name: 'files', run: async (_, { workspace, sandbox, log, skill }) => {
        const failing = (work) => work.then(() => 'it worked', (error) => error.message);
        const before = (await workspace.list()).map(({ path }) => path);
        await workspace.write('note.txt', 'from the tool');
        await workspace.write('/chat/kept/bytes.bin', new Uint8Array([1, 2]));
        const { folders } = sandbox;
        const command = await sandbox.run('cat note.txt; wc -c < "$CHAT/kept/bytes.bin"; echo made > made.txt; ls "$CHAT" | wc -l', { env: { CHAT: folders.chat } });
        const words = await sandbox.run(['echo', '$HOME', 'a  b']);
        log.info({
          before, command, words: words.stdout, made: await workspace.readText('/scratch/made.txt'),
          bytes: [...await workspace.read('/chat/kept/bytes.bin')],
          outside: await failing(workspace.read('/etc/passwd')),
          up: await failing(workspace.write('../x', 'x')),
          skill: skill && await workspace.readText('/skill/SKILL.md'),
          skillWritten: skill && await failing(workspace.write('/skill/SKILL.md', 'x')),
        }, 'seen');
        return '';
      }`),
  );
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: base + listed(folder),
    skills,
    script: calling('files'),
  });
  const ann = bot.telegram.person({ name: 'Ann', id: 1001 });
  ann.says('hello');
  await ann.dm.nextMessage(/answered/);
  ann.says('/dig');
  await ann.dm.nextMessage('It was done.');
  const [main, run] = seen(bot);
  for (const each of [main!, run!]) {
    const { command, words, made, bytes, outside, up } = each;
    const { status, exitCode, stdout } = command as Readonly<Record<string, unknown>>;
    assert.deepEqual([status, exitCode], ['exited', 0]);
    assert.match(String(stdout), /^from the tool\s*2\n\s*1\n$/);
    assert.deepEqual([words, made, bytes], ['$HOME a  b\n', 'made\n', [1, 2]]);
    assert.match(String(outside), /there is no file "\/etc\/passwd"; files are in/);
    assert.match(String(up), /must not hold "\.\."/);
  }
  assert.deepEqual(main!['before'], []);
  assert.deepEqual(main!['skill'], undefined);
  assert.match(String(run!['skill']), /name: dig/);
  assert.match(String(run!['skillWritten']), /read-only/);
  const listedThen = (run!['before'] as readonly string[]).map((file) =>
    file.replace(/^.*?(kept|SKILL)/, '$1'),
  );
  assert.deepEqual(
    listedThen,
    ['kept', 'kept/bytes.bin', 'SKILL.md'],
    'the conversation kept its own, scratch is new',
  );
  await bot.bot.idle();
  assert.deepEqual(await readdir(path.join(bot.home, 'workspace', 'runs')), []);
});

test('X4 U10 a tool asks a model in the requester’s name: it is counted, and a budget that is used up ends it', async (t) => {
  const folder = await makePlugin(
    t,
    onePlugin(`name: 'ask', run: async (_, { model, log }) => {
        const failing = async (work) => { try { return await work() } catch (error) { return error.message } };
        const answer = await model().complete({ system: 'Be short.', prompt: 'Why?' });
        const other = await failing(() => model('nobody').complete('x'));
        const failed = await failing(() => model('opus').complete('Fail.'));
        const silent = await failing(() => model('opus').complete('Be silent.'));
        await model('haiku').complete('Why? '.repeat(8_000));
        const over = await failing(() => model('haiku').complete('Again?'));
        log.info({ alias: model().alias, answer, other, failed, silent, over }, 'seen');
        return answer;
      }`),
  );
  const ask = calling('ask');
  const bot = await startWholeBot(t, {
    toml: `${base}[limits]\ntokens_per_day = 8000\n${listed(folder)}`,
    script(request) {
      const said = JSON.stringify(request.messages);
      if (said.includes('Fail.')) return { status: 400, message: 'internal details' };
      if (said.includes('Be silent.')) return { content: [], stopReason: 'refusal' };
      return said.includes('Why?') ? 'Because.' : ask(request);
    },
  });
  const ann = bot.telegram.person({ name: 'Ann', id: 1001 });
  ann.says('hello');
  await ann.dm.nextMessage(/answered: .*Because/);
  const [asked] = requests(bot, (request) => JSON.stringify(request.messages).includes('Why?'));
  assert.match(JSON.stringify(asked!.system), /Be short/);
  assert.deepEqual(asked!.tools ?? [], []);
  const [noted] = seen(bot);
  assert.equal(noted!['answer'], 'Because.');
  assert.equal(noted!['alias'], 'default');
  assert.match(String(noted!['other']), /no alias under \[models\] is called "nobody"/);
  assert.doesNotMatch(String(noted!['failed']), /internal details|400/, 'a sentence for people');
  assert.match(String(noted!['failed']), /^[A-Z].*\.$/);
  assert.equal(noted!['silent'], 'the model gave no answer (refusal)');
  assert.match(String(noted!['over']), /Your budget of 8,000 tokens a day is used up/);
  ann.says('/status');
  assert.match((await ann.dm.nextMessage('tokens today')).text, /Your tokens today: \d\d,\d\d\d of 8,000/);
});

test('T11 X5 what a tool of a plugin throws reaches the model without a stack, and a secret of the config not at all', async (t) => {
  const folder = await makePlugin(
    t,
    onePlugin(
      "name: 'fail', run: (_, { log }) => { log.warn('seen'); throw new Error(`401 for ${config.api_key}: ask the operator`) }",
      {
        more: 'config: z.object({ api_key: z.string() }),',
      },
    ),
  );
  const bot = await startWholeBot(t, {
    toml: `${base}${listed(folder, 'config = { api_key = "sk-plugin-0123456789" }')}`,
    script: calling('fail'),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('hello');
  const { text } = await ann.dm.nextMessage(/answered/);
  assert.match(text, /TOOL_FAILED: fail failed: 401 for \[redacted [^\]]*api_key\]: ask the operator"$/);
  assert.doesNotMatch(JSON.stringify(bot.messages.requests), /sk-plugin|plugin\.ts/);
  assert.deepEqual(seen(bot), [{ plugin: 'one', tool: 'fail' }]);
});
