import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const lookup = '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up and say what you found.\n';
const open = '[access]\ndm = "open"\n[skills]\nbundled = false\n';

/** An answer whose end is held back. */
const held = (text: string, hold: Promise<void>) => ({
  content: [{ type: 'text' as const, text }],
  wire: { hold },
});
const textOf = (body: MessagesRequest): string => JSON.stringify(body.messages);
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const useLookup = {
  content: [{ type: 'tool_use' as const, name: 'use_skill', input: { skill: 'lookup', message: 'x' } }],
  stopReason: 'tool_use' as const,
};

test("R5 a run gets no more time than [sandbox] timeout_seconds, whatever its skill's own says", async (t) => {
  const over = Promise.withResolvers<void>();
  t.after(() => over.resolve());
  const set = await startWholeBot(t, {
    toml: `${open}[sandbox]\ntimeout_seconds = 1\n`,
    skills: { lookup: lookup.replace('---\nLook', 'timeout_seconds: 5000\n---\nLook') },
    script: (body) => {
      if (isRun(body)) return held('late', over.promise);
      return textOf(body).includes('TIMEOUT') ? 'It took too long.' : useLookup;
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('look x up');
  assert.equal((await ann.dm.nextMessage()).text, 'It took too long.');
});

for (const [which, bundled] of [
  ['', true],
  [' of the only skill there was', false],
] as const)
  test(`D7 a run${which} that was under way when the bot stopped, and may not go on after the restart, is CANCELLED`, async (t) => {
    const began = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const toml = `[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n[skills]\nbundled = ${bundled}\n`;
    const set = await startWholeBot(t, {
      toml,
      skills: { lookup },
      script: (body) => {
        if (isRun(body)) {
          began.resolve();
          return held('cut off', over.promise);
        }
        return /tool_result/.test(textOf(body)) ? 'It was ended.' : useLookup;
      },
    });
    const ann = set.telegram.person({ name: 'Ann' });
    ann.says('look x up');
    await began.promise;
    const stopping = set.reconfigure(`${toml}[skills.lookup]\nenabled = false\n`);
    await stopping;
    const again = await set.restart();
    over.resolve();
    assert.equal((await ann.dm.nextMessage()).text, 'It was ended.');
    await again.bot.idle();
    assert.match(textOf(set.messages.requests.at(-1)!.body), /CANCELLED[^"]*the run of lookup was ended/);
    assert.equal(ann.dm.everSent().length, 1);
  });

test('H3 an edit of what still waits replaces it where it would be admitted as it is now, a later one is ignored', async (t) => {
  const gate = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\ngroups_mode = "open"\n[skills]\nbundled = false\n',
    script: (body) => {
      const last = JSON.stringify(body.messages.at(-1));
      return /first/.test(last)
        ? held('One.', gate.promise)
        : /good words/.test(last)
          ? 'Good.'
          : 'As it was.';
    },
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const group = set.telegram.group();
  // A bot can't begin a direct message, and the status comes there.
  ann.says('/start');
  await ann.dm.nextMessage(/Hello/);
  ann.says('@test_bot first', { in: group });
  await set.telegram.until('the first request', () => set.messages.requests.length === 1);
  const mended = ann.says('@test_bot bad wrods', { in: group });
  const kept = ann.says('@test_bot third words', { in: group });
  ann.edits(mended, '@test_bot good words', group);
  // Not meant for the bot any more: what was said to it stands.
  ann.edits(kept, 'never mind', group);
  ann.says('/status@test_bot', { in: group });
  await ann.dm.nextMessage(/2 waiting/);
  gate.resolve();
  for (const text of ['One.', 'Good.', 'As it was.']) await group.nextMessage(text);
  ann.edits(mended, '@test_bot too late', group);
  ann.says('/status@test_bot', { in: group });
  await ann.dm.nextMessage(/0 waiting/);
  await set.bot.idle();
  const seen = set.messages.requests.map(({ body }) => textOf(body)).join('\n');
  assert.equal(set.messages.requests.length, 3);
  assert.match(seen, /third words/);
  assert.doesNotMatch(seen, /wrods|never mind|too late/);
});

test('Q3 fifty messages wait behind the one that is being answered; who writes ten more is told once', async (t) => {
  const gate = Promise.withResolvers<void>();
  const answered: string[] = [];
  const set = await startWholeBot(t, {
    toml: open,
    flood: false,
    script: (body, index) => {
      answered.push(JSON.stringify(body.messages.at(-1)));
      return index === 0 ? held('One.', gate.promise) : 'Next.';
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('number 0');
  await set.telegram.until('the first request', () => answered.length === 1);
  for (let n = 1; n <= 60; n++) ann.says(`number ${n}`);
  await ann.dm.nextMessage(/Too many messages.*again/);
  ann.says('/stop');
  await ann.dm.nextMessage(/cancelled 50 waiting/);
  gate.resolve();
  await set.bot.idle();
  assert.equal(ann.dm.sent().filter(({ text }) => text.startsWith('Too many')).length, 1);
});

test('M8 what is said in a direct message never shows in a group, nor the other way round, and /clear starts afresh', async (t) => {
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\ngroups_mode = "open"\n[skills]\nbundled = false\n',
    script: () => 'Noted.',
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const group = set.telegram.group();
  const other = set.telegram.group();
  const say = async (text: string, chat?: typeof group): Promise<string> => {
    if (chat === undefined) ann.says(text);
    else ann.says(`@test_bot ${text}`, { in: chat });
    await (chat ?? ann.dm).nextMessage('Noted.');
    return textOf(set.messages.requests.at(-1)!.body);
  };
  await say('the private word is plum');
  const inGroup = await say('the word here is pear', group);
  const elsewhere = await say('and the word here?', other);
  const again = await say('which words do you know?');
  assert.doesNotMatch(inGroup + elsewhere, /plum/);
  assert.doesNotMatch(elsewhere + again, /pear/);
  assert.match(again, /plum/);
  ann.says('/clear');
  await ann.dm.nextMessage(/New conversation/);
  assert.doesNotMatch(await say('and now?'), /plum/);
});

test('I1 U2 U12 a name with underscores starts the skill with hyphens, by the model that config names before the file’s', async (t) => {
  const review = '---\nname: code-review\ndescription: Reviews.\nmodel: sonnet\n---\nReview it.\n';
  const toml = '[access]\nusers = ["telegram:1001"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';
  const set = await startWholeBot(t, {
    toml,
    skills: {
      'code-review': review,
      plain: review.replace('code-review', 'plain').replace('model: sonnet\n', ''),
    },
    script: (body) => (isRun(body) ? 'fine' : 'Said.'),
  });
  const modelsOf = (): readonly string[] =>
    set.messages.requests.filter(({ body }) => isRun(body)).map(({ body }) => body.model);
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const group = set.telegram.group();
  ann.says('/code_review@test_bot this line', { in: group });
  await group.nextMessage('Said.');
  ann.says('/plain x');
  await ann.dm.nextMessage('Said.');
  await set.reconfigure(`${toml}[skills.code-review]\nmodel = "default/claude-haiku-5-5"\n`);
  await set.log.line(({ message }) => message === 'the config was changed');
  ann.says('/code-review again');
  await ann.dm.nextMessage('Said.');
  assert.deepEqual(modelsOf(), ['claude-sonnet-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5']);
  const lines = set.log.lines.filter(({ message }) => message === 'a run ended');
  assert.equal(lines.length, 3);
  const { tokens, durationMs, run, cost, ...fields } = lines[0]?.fields ?? {};
  assert.ok(typeof cost === 'number' && cost > 0, 'prices of known models are built in (M14)');
  assert.deepEqual(fields, {
    skill: 'code-review',
    origin: 'workspace',
    sender: 'telegram:1001',
    conversation: `telegram:${group.id}`,
    status: 'ok',
    code: undefined,
    iterations: 1,
  });
  assert.ok(typeof tokens === 'object' && typeof durationMs === 'number' && typeof run === 'string');
});

test('U1 A11 a skill without its env says which lines to add, to the model and so to the person', async (t) => {
  const keyed = lookup.replace('---\nLook', 'env: [API_KEY, API_HOST]\n---\nLook');
  const set = await startWholeBot(t, {
    toml: `${open}[skills.lookup]\nAPI_HOST = "x.example"\n`,
    skills: { lookup: keyed },
    script: (body) => (/tool_result/.test(textOf(body)) ? 'It lacks a key.' : useLookup),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('look x up');
  await ann.dm.nextMessage('It lacks a key.');
  const [first, second] = set.messages.requests.map(({ body }) => body);
  assert.match(JSON.stringify(first!.system), /lookup/, 'P3: it is listed, so that the fix gets told');
  assert.match(
    textOf(second!),
    /MISSING_ENV: lookup is not set up\. The operator adds to config\.toml:\\n\[skills\.lookup\]\\nAPI_KEY = \\"…\\"/,
  );
  assert.doesNotMatch(textOf(second!), /API_HOST = /);
});

test('M10 background is what admitted people said here in the last day, so many messages and no more', async (t) => {
  const toml =
    '[access]\nusers = ["telegram:1001", "telegram:1002"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';
  const set = await startWholeBot(t, {
    toml: `${toml}[agent]\nbackground_messages = 2\n`,
    script: () => 'Noted.',
  });
  const [ann, ben, eve] = [1001, 1002, 1003].map((id) => set.telegram.person({ name: `P${id}`, id }));
  const group = set.telegram.group();
  for (const n of [1, 2, 3]) ben!.says(`remark ${n}`, { in: group });
  eve!.says('a stranger speaks', { in: group });
  ann!.says('@test_bot what was that?', { in: group });
  await group.nextMessage('Noted.');
  const seen = textOf(set.messages.requests[0]!.body);
  assert.match(seen, /remark 2[^]*remark 3[^]*what was that/);
  assert.match(seen, /<background/);
  assert.doesNotMatch(seen, /remark 1|stranger/);
});

test('Q2 Q4 a command that is delivered again does nothing again', async (t) => {
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const set = await startWholeBot(t, {
    toml: '[skills]\nbundled = false\n',
    channels: [],
    script: (_, index) => {
      asked[index]?.resolve();
      return held(`Answer ${index}.`, gates[index]?.promise ?? Promise.resolve());
    },
  });
  const shown: string[] = [];
  const seat = set.bot.sit(
    { user: 'owner', as: 'private', patient: true },
    {
      send: async (_, { markdown }) => ({ id: String(shown.push(markdown)) }),
      edit: async (_, __, { markdown }) => void shown.push(markdown),
      remove: async () => undefined,
      status: async () => undefined,
    },
  );
  const say = (id: string, text: string): Promise<void> => {
    const command = text.startsWith('/') ? { command: { name: text.slice(1), args: '' } } : {};
    return seat.tell({ message: { id: `terminal:${id}`, text, ...command, sentAt: Date.now() } });
  };
  await say('1', 'a question');
  await asked[0]?.promise;
  await say('2', '/stop');
  await seat.idle();
  await say('3', 'another one');
  await asked[1]?.promise;
  await say('2', '/stop');
  gates[1]?.resolve();
  await seat.idle();
  assert.equal(shown.at(-1), 'Answer 1.');
  assert.equal(shown.filter((text) => text.endsWith('Stopped.')).length, 1);
  gates[0]?.resolve();
});

test('H13 no reaction is put on what a stranger says, or on what is said in a group that is not listed', async (t) => {
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\n[skills]\nbundled = false\n',
    telegram: 'reaction = "👀"',
    script: () => 'Hello.',
  });
  const [ann, eve] = [set.telegram.person({ name: 'Ann', id: 1001 }), set.telegram.person({ name: 'Eve' })];
  const group = set.telegram.group();
  const [strange, unlisted] = [eve.says('hello'), ann.says('@test_bot hello', { in: group })];
  const mine = ann.says('hello');
  await set.telegram.until('the reaction', () => ann.dm.reactions(mine).length > 0);
  await set.bot.idle();
  assert.deepEqual([eve.dm.reactions(strange), group.reactions(unlisted)], [[], []]);
});

test('H4 a question that was deleted on Slack while it waited is not answered', async (t) => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { slack, bot, messages } = await startWholeBot(t, {
    toml: '[access]\nusers = ["slack:*"]\n',
    channels: ['slack'],
    script: () => {
      asked.resolve();
      return held('An answer.', gate.promise);
    },
  });
  const anna = slack.workspace.addUser('anna');
  slack.people.dm(anna, 'a long question');
  await asked.promise;
  const regretted = slack.people.dm(anna, 'my PIN is 1234');
  await regretted.delivered;
  await slack.people.remove(regretted);
  gate.resolve();
  await slack.posted(({ text }) => text.includes('An answer'));
  await bot.idle();
  assert.equal(messages.requests.length, 1);
  assert.doesNotMatch(JSON.stringify(messages.requests[0]!.body), /PIN/);
});
