import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { nodeCommand } from '../support/node-command.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { notesMain, openNotesProvider } from '../support/notes-provider.ts';
import { startWholeBot, type WholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const skill = (more = 'capabilities: [notes.book]\n') =>
  `---\nname: notebook\ndescription: Keeps notes.\n${more}---\nUse the notebook.\n`;

/** In a run: the calls that the person wrote as JSON, one after another; then what the last one gave. */
const obedient: NonNullable<WholeBotOptions['script']> = (body) => {
  if (!isRun(body)) {
    const said = JSON.stringify(body.messages.at(-1));
    const [refusal] = /error CAPABILITY_UNAVAILABLE: [^"\\]*/.exec(said) ?? [];
    const outputs = [...JSON.stringify(body.messages).matchAll(/<output>(.*?)<\/output>/g)];
    return refusal ?? outputs.at(-1)?.[1]?.slice(0, 500) ?? 'Hm.';
  }
  const first = JSON.stringify(body.messages[0]?.content);
  const calls = JSON.parse(
    Buffer.from(/do ([\w+/=]+)/.exec(first)?.[1] ?? '', 'base64').toString(),
  ) as readonly [string, object][];
  const results = resultsIn(body);
  const next = calls[results.length];
  if (next === undefined) return `Ended with ${results.at(-1)}`;
  return { content: [{ type: 'tool_use', id: `toolu_${results.length}`, name: next[0], input: next[1] }] };
};
const run = (...calls: readonly [string, object][]): string =>
  `/notebook do ${Buffer.from(JSON.stringify(calls)).toString('base64')}`;
const invoke = (operation: string, input: object): [string, object] => [
  'capability_invoke',
  { capability: 'notes.book', operation, input },
];
const begin: [string, object] = ['capability_auth', { action: 'begin' }];

async function start(
  t: TestContext,
  flow = 'code',
): Promise<WholeBot & { notes: Awaited<ReturnType<typeof openNotesProvider>> }> {
  const notes = await openNotesProvider(t);
  const command = nodeCommand(notesMain, '--data', notes.folder, '--page', notes.page, '--flow', flow);
  const bot = await startWholeBot(t, {
    flood: false,
    toml: `[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[skills]\nbundled = false\n[bot]\nshutdown_seconds = 1\n[capabilities.providers.notes]\ncommand = ${JSON.stringify(command)}\n`,
    script: obedient,
    skills: { notebook: skill() },
  });
  return { ...bot, notes };
}

/** Everything the bot has written and said to a model. */
async function everything({ home, messages, log }: WholeBot): Promise<string> {
  const files = await readdir(home, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map((file) => readFile(path.join(file.parentPath, file.name), 'latin1')),
  );
  return [...texts, JSON.stringify(messages.requests), JSON.stringify(log.lines)].join('\n');
}

const linkIn = (text: string): URL =>
  new URL(/http:\/\/\S+authorize\S+/.exec(text)?.[0].replace(/[>)].*$/, '') ?? '');

/** Goes through the sign-in as a person does; gives the address they land on. */
async function allow(bot: Awaited<ReturnType<typeof start>>, text: string): Promise<string> {
  return bot.notes.decide(linkIn(text).searchParams.get('request') ?? '', 'allow');
}

test('C4 C6 a person links a notebook in a direct message, lists, reads and adds with approval; it survives a restart', async (t) => {
  const bot = await start(t);
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says(run(invoke('list', {})));
  await ann.dm.nextMessage(/capability_auth_required/);
  ann.says(run(begin));
  const link = await ann.dm.nextMessage(/wants to use notes\.book/);
  await ann.dm.nextMessage(/pending/);
  const landed = await allow(bot, link.text);
  const code = new URL(landed).searchParams.get('code') ?? '';
  ann.says(`here you are: ${landed}`);
  const question = await ann.dm.nextMessage(/Is this your account/);
  assert.match(question.text, /notebook/);
  assert.deepEqual(question.buttons, ['Use it', 'Not mine']);
  ann.says(run(invoke('list', {})));
  await ann.dm.nextMessage(/capability_auth_required/);
  ann.presses(question.id, 'Use it');
  await bot.telegram.until('the outcome', () =>
    ann.dm.sent().find(({ text }) => /^Linked: notes\.book/.test(text)),
  );
  ann.says(run(invoke('list', {})));
  await ann.dm.nextMessage(/Ended with.*output/s);
  ann.says(run(invoke('add', { text: 'Milk: two bottles' })));
  const asked = await ann.dm.nextMessage(/wants to use.*capability_invoke/s);
  assert.match(asked.text, /notes\.book[\s\S]*add[\s\S]*notebook[\s\S]*two bottles/);
  assert.deepEqual(asked.buttons, ['Approve', 'Deny']);
  ann.presses(asked.id, 'Approve');
  await ann.dm.nextMessage(/Ended with/);
  const again = await bot.restart();
  ann.says(run(invoke('search', { query: 'bottles' })));
  await ann.dm.nextMessage(/Milk/);
  assert.ok(code.length > 10);
  const kept = await everything(again);
  assert.equal(kept.includes(code), false, 'the code is nowhere');
  assert.equal((await everything(bot)).includes(code), false);
});

test('C5 C6 U1 in a group nothing sensitive is done, a pasted answer is refused; a no, /stop and forget hold', async (t) => {
  const bot = await start(t);
  const { telegram } = bot;
  const [ann, bob] = [telegram.person({ name: 'Ann' }), telegram.person({ name: 'Bob' })];
  const group = telegram.group({ title: 'Friends' });
  for (const call of [invoke('list', {}), begin]) {
    ann.says(`@test_bot ${run(call)}`, { in: group });
    await group.nextMessage(/CAPABILITY_UNAVAILABLE.*notes\.book is not for this chat, only for: private/);
  }
  assert.ok(!bot.messages.requests.some(({ body }) => isRun(body)), 'no run begins (U1)');
  ann.says(run(begin));
  const landed = await allow(bot, (await ann.dm.nextMessage(/wants to use notes\.book/)).text);
  await ann.dm.nextMessage(/pending/);
  ann.says(landed, { in: group });
  await group.nextMessage(/Others can read it here/);
  bob.says('hello there');
  await bob.dm.nextMessage(/./);
  ann.says('/stop');
  await ann.dm.nextMessage(/Nothing is running/);
  ann.says(landed);
  await ann.dm.nextMessage(/no longer open/);
  ann.says(run(begin));
  ann.says(await allow(bot, (await ann.dm.nextMessage(/wants to use notes\.book/)).text));
  ann.presses((await ann.dm.nextMessage(/Is this your account/)).id, 'Use it');
  await telegram.until('the outcome', () => ann.dm.sent().find(({ text }) => /^Linked/.test(text)));
  ann.says(run(invoke('add', { text: 'never' })));
  const asked = await ann.dm.nextMessage(/wants to use.*capability_invoke/s);
  ann.presses(asked.id, 'Deny');
  await ann.dm.nextMessage(/capability_mutation_not_confirmed/);
  const accounts = await bot.bot.operate('capability accounts');
  assert.equal(accounts.length, 1);
  const forgotten = (await bot.bot.operate('forget', `telegram:${ann.user.id}`)) as Readonly<{
    removed: Readonly<Record<string, number>>;
  }>;
  assert.equal(forgotten.removed['accounts'], 1);
  assert.deepEqual(await bot.bot.operate('capability accounts'), []);
  const code = new URL(landed).searchParams.get('code') ?? '-';
  assert.equal((await everything(bot)).includes(code), false);
  assert.match(
    (await bot.bot.operate('audit tail', { lines: 200 })).join(),
    /capability_call.*capability_sign_in/s,
  );
});

test('C6 a device flow goes on by itself once it is allowed', async (t) => {
  const bot = await start(t, 'device');
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says(run(begin));
  const asked = await ann.dm.nextMessage(/Enter this code there/);
  const typed = new URLSearchParams({ user_code: /code there: (\S+?)\.? /.exec(asked.text)?.[1] ?? '' });
  const confirm = await (await fetch(`${bot.notes.page}/device`, { method: 'POST', body: typed })).text();
  await bot.notes.decide(/name="request" value="([^"]+)"/.exec(confirm)?.[1] ?? '', 'allow');
  const question = await ann.dm.nextMessage(/Is this your account/);
  ann.presses(question.id, 'Use it');
  await bot.telegram.until('the outcome', () => ann.dm.sent().find(({ text }) => /^Linked/.test(text)));
  ann.says(run(invoke('list', {})));
  await ann.dm.nextMessage(/notes/);
});

test('C6 /new calls a sign-in off; where the bot may, it deletes an answer that others can read', async (t) => {
  const bot = await start(t);
  const ann = bot.telegram.person({ name: 'Ann' });
  const group = bot.telegram.group({ title: 'Friends' });
  group.setBot('administrator');
  ann.says(run(begin));
  const landed = await allow(bot, (await ann.dm.nextMessage(/wants to use notes\.book/)).text);
  const pasted = ann.says(`@test_bot ${landed}`, { in: group });
  await group.nextMessage(/I deleted it/);
  assert.equal(Number(bot.telegram.calls('deleteMessage').at(-1)?.args['message_id']), pasted);
  ann.says('/new');
  await ann.dm.nextMessage(/New conversation/);
  ann.says(landed);
  await ann.dm.nextMessage(/no longer open/);
});

test('U1 a skill whose capability has no provider says so, and what to write', async (t) => {
  const bot = await startWholeBot(t, {
    flood: false,
    toml: '[access]\ndm = "open"\n[skills]\nbundled = false\n[bot]\nshutdown_seconds = 1\n',
    script: (body) =>
      isRun(body)
        ? 'ran'
        : /tool_result/.test(JSON.stringify(body.messages))
          ? (/CAPABILITY_UNAVAILABLE[^"]{0,200}/.exec(JSON.stringify(body.messages))?.[0] ?? 'Hm.')
          : {
              content: [
                {
                  type: 'tool_use',
                  id: 'toolu_1',
                  name: 'use_skill',
                  input: { skill: 'notebook', message: 'go' },
                },
              ],
            },
    skills: { notebook: skill() },
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('list my notes');
  await ann.dm.nextMessage(/no provider is set up for notes\.book.*capabilities\.providers\.notes/s);
});
