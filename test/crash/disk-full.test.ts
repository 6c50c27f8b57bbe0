import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { startBotProcess, type BotProcess } from '../support/bot-process.ts';
import { limitFileSize, mountSmallDisk } from '../support/full-disk.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startTelegramServer, type TelegramServer } from '../servers/telegram/start-telegram-server.ts';

type Person = ReturnType<TelegramServer['person']>;

/** A bot that is in the middle of a skill's run, with its store on `dataDir`. */
async function inTheMiddle(t: TestContext, dataDir?: string) {
  const { write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ flood: false });
  t.after(() => telegram.close());
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    async script({ messages, tools = [] }) {
      const names = tools.map((tool) => ('name' in tool ? tool.name : ''));
      const last = JSON.stringify(messages.at(-1));
      if (names.includes('skills_run_script')) {
        const rolled = /1d6: ([1-6]) = \1/.exec(last)?.[1];
        if (rolled !== undefined) return `the dice say ${rolled}`;
        if (last.includes('tool_result')) return failed(last);
        reached.resolve();
        await goOn.promise;
        const input = { path: 'scripts/roll.sh', args: ['1d6'] };
        return { content: [{ type: 'tool_use', name: 'skills_run_script', input }] };
      }
      const said = /the dice say ([1-6])/.exec(last)?.[1];
      if (said !== undefined) return `you rolled ${said}`;
      if (last.includes('tool_result')) return failed(last);
      if (last.includes('roll for me')) {
        return {
          content: [{ type: 'tool_use', name: 'use_skill', input: { skill: 'dice', message: 'roll' } }],
        };
      }
      return `answer to ${/number \d+/.exec(last)?.[0]}`;
    },
  });
  t.after(() => messages.close());
  const ann = telegram.person({ name: 'Ann' });
  const bob = telegram.person({ name: 'Bob' });
  const cid = telegram.person({ name: 'Cid' });
  await write(
    'config.toml',
    `[bot]
owner = ["telegram:${ann.id}"]
${dataDir === undefined ? '' : `data_dir = "${dataDir}"\n`}[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[access]
dm = "open"
[server]
listen = "127.0.0.1:0"
[log]
format = "json"
[models.default]
model = "claude-sonnet-5-5"
base_url = "${messages.url}"
api_key = "test-key-0123456789"
`,
  );
  if (dataDir === undefined) mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
  const bot = startBotProcess(t, folder);
  await bot.line(({ msg }) => msg === 'Skillet is ready');
  bob.says('number 0');
  await bob.dm.nextMessage('answer to number 0');
  ann.says('roll for me');
  await reached.promise;
  const store = path.join(dataDir ?? path.join(folder, 'data'), 'skillet.db');
  return { telegram, messages, ann, bob, cid, bot, store, goOn: goOn.resolve };
}

/** What a model says of a result that is not what it asked for. */
function failed(last: string): string {
  return `it failed: ${last.replaceAll(/["\\]/g, ' ')}`;
}

/** What must be true in and after an outage, however it comes about. */
async function outage(
  { telegram, messages, ann, bob, cid, bot, goOn }: Awaited<ReturnType<typeof inTheMiddle>>,
  { begin, end, reason }: Readonly<{ begin(): void; end(): void; reason: RegExp }>,
): Promise<void> {
  assert.equal((await bot.get('/readyz')).status, 200);
  begin();
  goOn();
  await bot.line(({ msg }) => msg.startsWith('the store does not work'));
  const red = await bot.get('/readyz');
  assert.equal(red.status, 503);
  assert.match(red.text, reason);
  assert.equal((await bot.get('/livez')).status, 200);
  const [sent, asked, logged] = [everySent(ann, bob, cid), messages.requests.length, bot.lines.length];

  // What is said meanwhile is refused, and asked for again and again: the offset does not move.
  for (let n = 1; n <= 4; n++) (n % 2 === 0 ? cid : bob).says(`number ${n}`);
  await refusedTimes(bot, 3);
  assert.equal(telegram.queue.waiting().length, 4);
  assert.equal(bot.child.exitCode, null, 'the bot is alive');
  assert.equal(everySent(ann, bob, cid), sent, 'nobody got half an answer');
  assert.equal(messages.requests.length, asked, 'no model was asked again');
  assert.ok(bot.lines.length - logged < 10, 'the log is not flooded');
  const metrics = await bot.get('/metrics');
  assert.match(metrics.text, /^skillet_store_up 0$/m);

  end();
  await bot.line(({ msg }) => msg === 'the store works again');
  assert.equal((await bot.get('/readyz')).status, 200);
  const { text: rolled } = await ann.dm.nextMessage(/^you rolled [1-6]$/);
  for (const n of [1, 3]) await bob.dm.nextMessage(`answer to number ${n}`);
  for (const n of [2, 4]) await cid.dm.nextMessage(`answer to number ${n}`);
  const told = await ann.dm.nextMessage('My store was unavailable from');
  assert.match(told.text, reason);
  const answers = (person: Person): readonly string[] =>
    person.dm
      .sent()
      .map(({ text }) => text)
      .filter((text) => /^(answer|you)/.test(text));
  assert.deepEqual(answers(ann), [rolled]);
  assert.deepEqual(answers(cid), ['answer to number 2', 'answer to number 4']);
  assert.deepEqual(
    answers(bob),
    [0, 1, 3].map((n) => `answer to number ${n}`),
  );
  assert.equal(ann.dm.sent().filter(({ text }) => text.startsWith('My store')).length, 1);
  await doneOnce(bot, messages);
  assert.deepEqual(await bot.stop(), [0, null]);
}

/** No model call and no tool call was made twice: five messages of one call each, and the run. */
async function doneOnce(bot: BotProcess, messages: MessagesServer): Promise<void> {
  assert.equal(messages.requests.length, 5 + 4);
  const { text } = await bot.get('/metrics');
  for (const line of [
    'skillet_tool_calls_total{tool="use_skill",outcome="ok"} 1',
    'skillet_tool_calls_total{tool="skills_run_script",outcome="ok"} 1',
    'skillet_runs_total{skill="dice",status="ok"} 1',
    'skillet_messages_total{outcome="accepted"} 6',
    'skillet_sends_total{outcome="repeated"} 0',
    'skillet_failed_tries_total 0',
    'skillet_store_outages_total 1',
    'skillet_inbox_waiting 0',
    'skillet_inbox_dead 0',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), `${line} is missing in\n${text}`);
  }
}

function everySent(...people: readonly Person[]): string {
  return JSON.stringify(people.map(({ dm }) => dm.everSent().map(({ texts }) => texts)));
}

/** Resolves when the bot has refused what Telegram gave it so many times. */
async function refusedTimes(bot: BotProcess, times: number): Promise<void> {
  await bot.line(
    () =>
      bot.lines.filter(({ msg }) => msg === 'an update could not be stored; it is asked for again').length >=
      times,
  );
}

test('Q11 Q1 L4 a full disk stops accepting, turns health red and loses nothing; with space again all goes on by itself', async (t) => {
  const disk = mountSmallDisk(t, '4m');
  if (typeof disk === 'string') return t.skip(disk);
  const bot = await inTheMiddle(t, path.join(disk.folder, 'data'));
  await outage(bot, { begin: disk.fill, end: disk.free, reason: /database or disk is full/ });
});

test('Q11 Q1 L4 a quota that is used up is waited out in the same way', async (t) => {
  const bot = await inTheMiddle(t);
  await outage(bot, {
    begin: () => limitFileSize(bot.bot.pid, 0),
    end: () => limitFileSize(bot.bot.pid, 'unlimited'),
    reason: /disk I\/O error|database or disk is full/,
  });
});

test('Q11 Q1 L4 a store that another program has locked is waited for in the same way', async (t) => {
  const bot = await inTheMiddle(t);
  // The bot may be writing at that moment.
  const other = new DatabaseSync(bot.store, { timeout: 60_000 });
  t.after(() => other.close());
  await outage(bot, {
    begin: () => other.exec('BEGIN IMMEDIATE'),
    end: () => other.exec('ROLLBACK'),
    reason: /database is locked/,
  });
});
