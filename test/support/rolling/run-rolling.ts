import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startMessagesServer } from '../../servers/messages/messages-server.ts';
import { startTelegramServer } from '../../servers/telegram/start-telegram-server.ts';
import { startBotProcess, type BotProcess } from '../bot-process.ts';
import type { PostgresServer } from '../postgres.ts';

export type Versions = Readonly<{ older: string; newer: string }>;

/**
 * A rolling update forward and back out, `rounds` times, while people talk: the older version runs, the newer one joins, each is killed
 * and comes back, the older one ends, and returns as the newer one ends. Fails if a message has no answer, one too many that was not
 * counted, or if anything was given up. Returns how many messages there were.
 */
export async function runRolling(
  t: TestContext,
  { run, database }: PostgresServer,
  { older, newer, people, rounds }: Versions & Readonly<{ people: number; rounds: number }>,
): Promise<number> {
  const url = await database();
  const telegram = await startTelegramServer({ privacy: false, flood: false });
  t.after(() => telegram.close());
  const messages = await startMessagesServer({
    script: ({ messages }) => `answer to ${openNumbers(JSON.stringify(messages)).join(' ')}`,
  });
  t.after(() => messages.close());
  const workspace = await makeFolder(t);
  const toml = `[bot]\nworkspace = "${workspace}"\n[store]\nurl = "${url}"\n[access]\ndm = "open"\n[server]\nlisten = "127.0.0.1:0"
[log]\nformat = "json"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"
[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n`;
  const place = { older: await makeFolder(t), newer: await makeFolder(t) };
  for (const folder of Object.values(place))
    await writeFile(path.join(folder, 'config.toml'), toml, { mode: 0o600 });

  const all = Array.from({ length: people }, (_, n) => telegram.person({ name: `Person ${n}` }));
  const said = { last: 0 };
  const say = (who = all): void => {
    for (const person of who) person.says(`number ${++said.last}`);
  };
  const answers = (n: number): number =>
    all.flatMap(({ dm }) => dm.everSent()).filter(({ text }) => answeredIn(text).includes(n)).length;
  const numbers = () => Array.from({ length: said.last }, (_, n) => n + 1);
  const answered = () =>
    telegram.until('every answer', () => {
      const found = new Set(all.flatMap(({ dm }) => dm.everSent()).flatMap(({ text }) => answeredIn(text)));
      return numbers().every((n) => found.has(n)) || undefined;
    });
  const start = async (version: keyof Versions): Promise<BotProcess> => {
    const bot = startBotProcess(t, place[version], version === 'older' ? older : newer);
    await bot.line(({ msg }) => msg === 'Telegram is connected');
    return bot;
  };
  const kill = async (bot: BotProcess): Promise<void> => {
    const ended = once(bot.child, 'exit');
    bot.child.kill('SIGKILL');
    await ended;
  };

  let old = await start('older');
  say();
  await answered();
  for (let round = 0; round < rounds; round++) {
    let fresh = await start('newer');
    say();
    await kill(fresh);
    say();
    fresh = await start('newer');
    say();
    await kill(old);
    say();
    await answered();
    // It starts on the schema of the newer version.
    old = await start('older');
    say();
    assert.deepEqual(await fresh.stop(), [0, null]);
    // The older version is alone: somebody new has an answer, and the others wait for the newer one.
    all.push(telegram.person({ name: `Late ${round}` }));
    say();
    await telegram.until('the answer of the older one', () => answers(said.last) > 0 || undefined);
    fresh = await start('newer');
    await answered();
    assert.deepEqual(await fresh.stop(), [0, null]);
  }
  assert.deepEqual(await old.stop(), [0, null]);

  const [counted] = await run(
    url,
    `SELECT (SELECT coalesce(sum(repeats), 0)::int FROM skillet.outbox) AS repeats,
      (SELECT count(*)::int FROM skillet.outbox WHERE status <> 'sent') AS unsent,
      (SELECT count(*)::int FROM skillet.inbox WHERE status <> 'done') AS left,
      (SELECT count(*)::int FROM skillet.inbox WHERE error LIKE '%newer%') AS blamed`,
  );
  const twice = numbers().reduce((sum, n) => sum + answers(n) - 1, 0);
  assert.ok(twice <= Number(counted?.['repeats']), `${twice} answers came twice, uncounted`);
  assert.deepEqual([counted?.['unsent'], counted?.['left'], counted?.['blamed']], [0, 0, 0]);
  for (const { dm } of all) {
    const firsts = [...new Set(dm.everSent().flatMap(({ text }) => answeredIn(text)))];
    assert.deepEqual(
      firsts,
      firsts.toSorted((a, b) => a - b),
      'in order',
    );
  }
  return said.last;
}

/** What was said since the last answer; words that come meanwhile join a turn. */
function openNumbers(messages: string): readonly string[] {
  const since = messages.replace(/^.*answer to (?:\d+ ?)+/s, '');
  return Array.from(new Set(since.match(/number \d+/g)), (one) => one.replace('number ', ''));
}

function answeredIn(text: string): readonly number[] {
  const [, numbers] = /^answer to ((?:\d+ ?)+)$/.exec(text) ?? [];
  return numbers?.trim().split(' ').map(Number) ?? [];
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-rolling-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
