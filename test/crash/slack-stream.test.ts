import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { knowPeople } from '../support/known-people.ts';
import { openCliHome } from '../support/run-cli.ts';

type Script = NonNullable<Parameters<typeof startMessagesServer>[0]['script']>;

/**
 * A question in a direct message with the agent view, to a model with this script. Without one it does not finish its
 * first answer.
 */
async function setUp(t: TestContext, script?: Script) {
  const { write, folder } = await openCliHome(t);
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  let [calls, starts] = [0, 0];
  const messages = await startMessagesServer({
    script:
      script ??
      (() => {
        calls += 1;
        const text = calls === 1 ? 'I guess so' : 'It is **so**.';
        return {
          content: [{ type: 'text', text }],
          ...(calls === 1 ? { wire: { hold: held.promise } } : {}),
        };
      }),
  });
  t.after(() => messages.close());
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\nagent_view = true\n[access]\nusers = ["slack:*"]\n[agent]\ntools = ["bash"]\n[sandbox]\nmode = "virtual"\n[log]\nlevel = "error"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  await knowPeople(`sqlite:${folder}/data/skillet.db`);
  const start = async (): Promise<ChildProcess> => {
    const bot = spawn(process.execPath, [cliPath, 'start'], {
      cwd: folder,
      env: childEnv(folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => bot.kill('SIGKILL'));
    starts += 1;
    await slack.socket.greeted.untilCount(starts);
    return bot;
  };
  const end = async (bot: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
    bot.kill(signal);
    await once(bot, 'exit');
  };
  /** The receipt of what is shown is stored a moment after the platform's answer. */
  const kept = async (): Promise<void> => {
    const store = new DatabaseSync(path.join(folder, 'data', 'skillet.db'), { readOnly: true });
    try {
      const count = () => store.prepare('SELECT COUNT(*) AS n FROM shown').get()?.['n'];
      await t.waitFor(() => assert.equal(count(), 1), { timeout: 60_000 });
    } finally {
      store.close();
    }
  };
  const anna = slack.workspace.addUser('anna');
  const own = () =>
    slack.workspace.dmWith(anna.id).messages.filter(({ user }) => user === slack.workspace.bot.user);
  return { slack, anna, start, end, kept, own };
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`H6 Q6 words that were streamed on Slack when the bot ended (${signal}) become the answer after the restart`, async (t) => {
    const { slack, anna, start, end, kept, own } = await setUp(t);
    const first = await start();
    slack.people.dm(anna, 'is it so?');
    const words = await slack.posted(({ text }) => text === 'I guess so');
    await kept();
    await end(first, signal);
    const second = await start();
    await slack.posted(({ text }) => text === 'It is *so*.');
    await end(second, 'SIGTERM');
    assert.deepEqual(
      own().map(({ ts, text, deleted, streaming }) => [ts, text, deleted, streaming?.state]),
      [[words.ts, 'It is *so*.', false, 'completed']],
    );
  });

test('H6 Q6 a stream that began as the bot was killed, whose receipt nobody stored, does not stay beside the answer', async (t) => {
  const { slack, anna, start, end, own } = await setUp(t);
  slack.faults.next('chat.startStream', { kind: 'late', ms: 600_000 });
  const first = await start();
  slack.people.dm(anna, 'is it so?');
  await slack.posted(({ text }) => text === 'I guess so');
  await end(first, 'SIGKILL');
  const second = await start();
  await slack.posted(({ text }) => text === 'It is *so*.');
  await end(second, 'SIGTERM');
  assert.deepEqual(
    own().flatMap(({ text, deleted }) => (deleted ? [] : [text])),
    ['It is *so*.'],
  );
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`U18 Q6 a plan that was shown when the bot ended (${signal}) is gone on with, and ends with the answer`, async (t) => {
    const held = Promise.withResolvers<void>();
    const call = (id: string) => ({
      content: [{ type: 'tool_use' as const, id, name: 'bash', input: { command: 'echo is it so' } }],
    });
    const { slack, anna, start, end, kept, own } = await setUp(t, ({ messages }) => {
      const results = JSON.stringify(messages).split('tool_result').length - 1;
      if (results === 0) return call('toolu_1');
      return results === 1 ? { ...call('toolu_2'), wire: { hold: held.promise } } : 'It is so.';
    });
    const states = () =>
      own().flatMap(({ plan, deleted }) =>
        plan === undefined || deleted ? [] : [plan.tasks.map(({ title, status }) => `${title} ${status}`)],
      );
    const first = await start();
    slack.people.dm(anna, 'is it so?');
    await slack.changes.until(() => states()[0]?.join() === '💻 Commands complete');
    await kept();
    await end(first, signal);
    held.resolve();
    const second = await start();
    await slack.posted(({ text }) => text === 'It is so.');
    await end(second, 'SIGTERM');
    assert.deepEqual(states(), [['💻 Commands complete', '💻 Commands complete']]);
    assert.deepEqual(
      own().map(({ text, deleted }) => [text, deleted]),
      [
        ['Steps: 2\n✓ 💻 Commands\n✓ 💻 Commands', false],
        ['It is so.', false],
      ],
    );
  });
