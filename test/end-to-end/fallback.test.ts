import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { FallbackCause } from '../../src/core/model.ts';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer, type Script } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startBotProcess } from '../support/bot-process.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const access =
  '[bot]\nowner = ["telegram:1001"]\nshutdown_seconds = 3600\n[access]\ndm = "open"\ngroups_mode = "open"\nusers = ["slack:U1"]\n';
const now = { 'retry-after-ms': '0' };
const call = (name: string, input: object) => ({ content: [{ type: 'tool_use' as const, name, input }] });
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

/** Two strict servers, the first of the Messages API and the second of Chat Completions, and their aliases. */
async function openServers(t: TestContext, first: Script, second: Script) {
  const one = await startMessagesServer({ script: first });
  const other = await startChatServer({ script: second });
  t.after(() => Promise.all([one.close(), other.close()]));
  const toml = `${access}[models]
fallback = ["second"]
fallback_on = ["busy", "down", "key", "credit", "too_long", "refusal"]
[models.first]
model = "claude-sonnet-5-5"
base_url = "${one.url}"
api_key = "test-key-0123456789"
[models.second]
api = "openai"
model = "spare"
base_url = "${other.url}"
api_key = "test-key-0123456789"
price_in = 1000
price_out = 1000
`;
  return { one, other, toml };
}

const causes: Readonly<Record<FallbackCause, ServerStep>> = {
  busy: { status: 529, headers: now },
  down: { status: 500, headers: now },
  key: { status: 401, message: 'invalid x-api-key' },
  credit: { status: 400, message: 'Your credit balance is too low to access the Anthropic API.' },
  too_long: { status: 400, message: 'prompt is too long: 300000 tokens > 200000 maximum' },
  refusal: { content: [{ type: 'text', text: 'I will not.' }], stopReason: 'refusal' },
};
const line = 'spare (second) answered, because claude-sonnet-5-5 (first) could not.';

for (const [cause, step] of Object.entries(causes))
  test(`M18 ${cause}: the next model answers, and log, metrics, stats and the person who chose the first hear of it`, async (t) => {
    const answers = (whose: string) => (body: MessagesRequest) =>
      !/tool_result/.test(lastOf(body)) ? call('skills_list', {}) : `From the ${whose}.`;
    const { one, other, toml } = await openServers(
      t,
      (body) => (/fail now(?!.*zebra)/s.test(JSON.stringify(body.messages)) ? step : answers('first')(body)),
      answers('second'),
    );
    const { telegram, bot, log } = await startWholeBot(t, {
      toml: `${toml}[server]\nlisten = "127.0.0.1:0"\n`,
      script: () => 'From the default.',
    });
    const ann = telegram.person({ id: 1001, name: 'Ann' });
    ann.says('/model first');
    await ann.dm.nextMessage(/Model: claude-sonnet-5-5 \(first\)/);
    ann.says('hello');
    await ann.dm.nextMessage('From the first.');
    ann.says('fail now');
    await ann.dm.nextMessage(`From the second.\n\n${line}`);
    assert.equal(other.requests.length, 2, 'a call and an answer');
    ann.says('a zebra?');
    // What fits every request is not tried for a minute; the others are asked again.
    const isLasting = ['busy', 'down', 'key', 'credit'].includes(cause);
    await ann.dm.nextMessage(isLasting ? `From the second.\n\n${line}` : 'From the first.');
    await bot.idle();
    const hops = log.lines.filter(({ message }) => message === 'the fallback model is asked');
    for (const { fields } of hops)
      assert.deepEqual([fields['model'], fields['fallback'], fields['cause']], ['first', 'second', cause]);
    const { fields } = await log.line(({ message }) => message === 'serving health and metrics');
    const metrics = await (await fetch(`${String(fields['url'])}/metrics`)).text();
    const labels = `model="first",fallback="second",cause="${cause}"`;
    assert.ok(metrics.includes(`skillet_model_fallbacks_total{${labels}} ${hops.length}\n`), metrics);
    const rows = await bot.operate('stats', '2020-01-01');
    const counted = rows.filter(({ model }) => model === `second ← first (${cause})`);
    assert.equal(counted[0]?.requests, isLasting ? 4 : 2);
    // What a model that refused has read was paid for, too.
    const ofFirst = rows.find(({ model }) => model === 'first')?.requests;
    assert.equal(ofFirst, isLasting ? 2 : cause === 'refusal' ? 6 : 4);
    assert.deepEqual([one.refused, other.refused], [[], []], 'each took what the other one had made');
  });

test('M18 U10 the price of the model that answered counts, and nobody who chose nothing is told', async (t) => {
  const { toml } = await openServers(t, [], () => 'From the second.');
  const { telegram, restart } = await startWholeBot(t, {
    toml: `${toml}[limits]\nusd_per_day = 0.05\n`,
    script: () => ({ status: 401 }),
  });
  const ann = telegram.person({ id: 1002, name: 'Ann', language: 'de' });
  ann.says('hallo');
  await ann.dm.nextMessage('From the second.');
  // Sums may be a second old, but not those of a new process.
  await restart();
  ann.says('noch etwas?');
  await ann.dm.nextMessage(/^Dein Tagesbudget/);
});

test('M18 H14 the line is in the language of the person', async (t) => {
  const { toml } = await openServers(
    t,
    () => ({ status: 401 }),
    () => 'Hallo.',
  );
  const { telegram } = await startWholeBot(t, { toml, script: () => 'From the default.' });
  const ann = telegram.person({ id: 1001, name: 'Ann', language: 'de' });
  ann.says('/model first');
  await ann.dm.nextMessage(/\(first\)/);
  ann.says('hallo');
  await ann.dm.nextMessage(
    'Hallo.\n\nspare (second) hat geantwortet, weil claude-sonnet-5-5 (first) es nicht konnte.',
  );
});

for (const place of ['a group of Telegram', 'Slack'] as const)
  test(`M18 H6 in ${place} the whole answer takes the place of words that a model wrote before it broke`, async (t) => {
    const gate = Promise.withResolvers<void>();
    const { toml } = await openServers(t, [], () => ({
      content: [{ type: 'text', text: 'The second says all of it.' }],
      wire: { hold: gate.promise },
    }));
    const { telegram, slack } = await startWholeBot(t, {
      toml,
      channels: ['telegram', 'slack'],
      script: () => ({
        content: [{ type: 'text', text: 'The first begins to say it and then it breaks.' }],
        wire: { errorAfter: { events: 5, type: 'overloaded_error', message: 'Overloaded' } },
      }),
    });
    if (place === 'Slack') {
      const ann = slack.workspace.addUser('ann');
      slack.people.dm(ann, 'hello');
      await slack.posted(({ text }) => text.includes('The first'));
      gate.resolve();
      await slack.posted(({ text }) => text === 'The second says all of it.');
      const shown = slack.transcript(slack.workspace.dmWith(ann.id));
      assert.equal(shown.length, 2, shown.join('\n'));
      return;
    }
    const ann = telegram.person({ name: 'Ann', id: 1001 });
    const friends = telegram.group({ title: 'Friends' });
    ann.says('@test_bot hello', { in: friends });
    await friends.nextMessage(/The first/);
    gate.resolve();
    await telegram.until(
      'the answer',
      () => friends.sent()[0]?.text === 'The second says all of it.' || undefined,
    );
    assert.deepEqual(
      friends.sent().map(({ text }) => text),
      ['The second says all of it.'],
    );
  });

test('M18 Q5 a bot that is killed between hop and answer repeats no call, and still tells', async (t) => {
  const held = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const command = 'echo mark >> /chat/marks';
  let deaths = 0;
  const { one, other, toml } = await openServers(
    t,
    () => ({ status: 529, headers: now }),
    (body) => {
      if (isRun(body)) return resultsIn(body).length === 0 ? call('bash', { command }) : 'Marked.';
      if (resultsIn(body).length === 0) return call('use_skill', { skill: 'mark', message: 'Make it.' });
      if (++deaths > 1) return 'It is marked.';
      held.resolve();
      return { content: [{ type: 'text', text: 'It is' }], wire: { hold: gate.promise } };
    },
  );
  const home = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  await home.write(
    'config.toml',
    `${toml}[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${one.url}"\napi_key = "test-key-0123456789"
[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n[server]\nlisten = "127.0.0.1:0"
[log]\nformat = "json"\n[sandbox]\nmode = "virtual"\n[policy]\nmoderate = "allow"\n`,
  );
  await mkdir(path.join(home.folder, 'workspace/skills/mark'), { recursive: true });
  await writeFile(
    path.join(home.folder, 'workspace/skills/mark/SKILL.md'),
    '---\nname: mark\ndescription: Makes a mark.\nallowed-tools: bash\n---\nMake one mark.\n',
  );
  const first = startBotProcess(t, home.folder);
  const ann = telegram.person({ id: 1001, name: 'Ann' });
  ann.says('/model first');
  await ann.dm.nextMessage(/\(first\)/);
  ann.says('make a mark');
  await held.promise;
  const ended = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await ended;
  const second = startBotProcess(t, home.folder);
  await ann.dm.nextMessage(`It is marked.\n\n${line}`);
  assert.deepEqual(await second.stop(), [0, null]);
  const chat = chatFolder(path.join(home.folder, 'workspace'), {
    channel: 'telegram',
    chat: String(ann.dm.id),
  });
  assert.equal(await readFile(path.join(chat, 'marks'), 'utf8'), 'mark\n');
  assert.equal(ann.dm.sent().filter(({ text }) => text.includes(line)).length, 1);
  assert.deepEqual([one.refused, other.refused], [[], []]);
});
