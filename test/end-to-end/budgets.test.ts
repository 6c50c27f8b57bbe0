import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const open =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n';
const skills = { dig: '---\nname: dig\ndescription: Digs.\n---\nDig.\n' };
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

/** A model that digs when it is asked to, and tells a person why it could not. */
function digger(hold?: Promise<void>): NonNullable<WholeBotOptions['script']> {
  let calls = 0;
  return (body) => {
    const last = lastOf(body);
    if (isRun(body))
      return hold === undefined
        ? 'Dug.'
        : { content: [{ type: 'text' as const, text: 'Dug.' }], wire: { hold } };
    const limit = /LIMIT_REACHED: ([^"\\<]*)/.exec(last)?.[1];
    if (limit !== undefined) return `Not now: ${limit}`;
    if (/Dug\./.test(last)) return 'It is dug.';
    if (/status.{0,5}running/.test(last)) return 'It runs.';
    if (!/dig/.test(last)) return 'Hello.';
    const input = { skill: 'dig', message: 'Dig.', ...(hold === undefined ? {} : { background: true }) };
    return { content: [{ type: 'tool_use' as const, id: `toolu_${++calls}`, name: 'use_skill', input }] };
  };
}

test('U10 runs an hour are limited for each sender: the person hears when there is room, across a restart', async (t) => {
  const set = await startWholeBot(t, {
    toml: `${open}[limits]\nruns_per_hour = 2\n`,
    skills,
    script: digger(),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  for (const _ of [1, 2]) {
    ann.says('dig');
    await ann.dm.nextMessage('It is dug.');
  }
  await set.restart();
  ann.says('dig');
  await ann.dm.nextMessage(
    /Not now: Your limit of 2 runs an hour is reached: there is room in (60|59) min|in 1 h/,
  );
  bob.says('dig');
  await bob.dm.nextMessage('It is dug.');
});

test('U10 runs at the same time are limited for a chat, whoever began them', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { telegram } = await startWholeBot(t, {
    toml: `${open}[limits.chat]\nconcurrent_runs = 1\n`,
    skills,
    script: digger(gate.promise),
  });
  const ann = telegram.person({ name: 'Ann' });
  const bob = telegram.person({ name: 'Bob' });
  const room = telegram.group({ title: 'Team' });
  ann.says('@test_bot dig', { in: room });
  await room.nextMessage('It runs.');
  bob.says('@test_bot dig', { in: room });
  await room.nextMessage(/Not now: This chat.s limit of 1 runs at the same time is reached/);
  bob.says('dig');
  await bob.dm.nextMessage('It runs.');
  gate.resolve();
  await room.nextMessage('It is dug.');
});

test('U10 a budget of tokens that is used up ends answers, says when it resets, and /status shows it', async (t) => {
  const set = await startWholeBot(t, {
    toml: `${open}[limits]\ntokens_per_day = 100\n`,
    skills,
    script: digger(),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('hello');
  await ann.dm.nextMessage('Hello.');
  const asked = set.messages.requests.length;
  await set.restart();
  ann.says('hello again');
  await ann.dm.nextMessage(/^Your budget of 100 tokens a day is used up\. It resets in /);
  assert.equal(set.messages.requests.length, asked);
  ann.says('/status');
  await ann.dm.nextMessage(/Your tokens today: [\d,]+ of 100/);
});

test('U10 Q7 what a shutdown cut off is finished after it, though it used the budget up', async (t) => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: `${open}[limits]\ntokens_per_day = 1\n`,
    skills,
    script: (_, index) => {
      if (index === 0) return { content: [{ type: 'tool_use' as const, name: 'skills_list', input: {} }] };
      asked.resolve();
      return { content: [{ type: 'text' as const, text: 'There is dig.' }], wire: { hold: gate.promise } };
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('what is there?');
  await asked.promise;
  await set.restart();
  gate.resolve();
  assert.equal((await ann.dm.nextMessage()).text, 'There is dig.');
  ann.says('and else?');
  await ann.dm.nextMessage(/^Your budget of 1 tokens a day is used up/);
});

test('U10 money counts by the prices in the config, for everything together too; what a run gave is told anyway', async (t) => {
  const gate = Promise.withResolvers<void>();
  const toml = `${open}[models.priced]\nmodel = "claude-sonnet-5-5"\nprice_in = 1000\nprice_out = 1000\n[agent]\nmodel = "priced"\n[limits]\nusd_per_day = 0\n[limits.chat]\nusd_per_day = 0\n[limits.skill]\nusd_per_day = 0\n`;
  const set = await startWholeBot(t, {
    toml: `${toml}[limits.global]\nusd_per_day = 0.01\n`,
    skills,
    script: digger(gate.promise),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  const cat = set.telegram.person({ name: 'Cat' });
  ann.says('dig');
  await ann.dm.nextMessage(
    /I stopped here, because the next step would pass a budget\..*everything together, 0\.01 US dollars a day/,
  );
  bob.says('hello');
  await bob.dm.nextMessage(/^My budget of 0\.01 US dollars a day is used up/);
  await set.reconfigure(`${toml}[limits.global]\nusd_per_day = 0\n`);
  const changed = (): number =>
    set.log.lines.filter(({ message }) => message === 'the config was changed').length;
  // By itself it gives up after a second.
  const patience = { timeout: 60_000 };
  await t.waitFor(() => assert.equal(changed(), 1), patience);
  cat.says('dig');
  await cat.dm.nextMessage('It runs.');
  await set.reconfigure(`${toml}[limits.global]\nusd_per_day = 0.01\n`);
  await t.waitFor(() => assert.equal(changed(), 2), patience);
  gate.resolve();
  await cat.dm.nextMessage('It is dug.');
});

for (const [what, used] of [
  ['a run', 'dig'],
  ['a run inside another', 'outer'],
] as const) {
  test(`U10 Q5 ${what} that has started is not judged by the limits again after a restart`, async (t) => {
    const held = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const use = (id: string, skill: string) => ({
      content: [{ type: 'tool_use' as const, id, name: 'use_skill', input: { skill, message: 'Go.' } }],
    });
    const set = await startWholeBot(t, {
      toml: open,
      skills: {
        ...skills,
        outer: '---\nname: outer\ndescription: Has dug.\nallowed-tools: use_skill\n---\nHave dug.\n',
      },
      script(body) {
        const last = lastOf(body);
        const told = /LIMIT_REACHED|Dug\./.exec(last)?.[0];
        if (told !== undefined) return `Heard: ${told}`;
        if (!isRun(body)) return use('toolu_main', used);
        if (JSON.stringify(body.system).includes('outer')) return use('toolu_outer', 'dig');
        held.resolve();
        return { content: [{ type: 'text' as const, text: 'Dug.' }], wire: { hold: gate.promise } };
      },
    });
    const ann = set.telegram.person({ name: 'Ann' });
    ann.says('dig');
    await held.promise;
    await set.reconfigure(`${open}[limits]\ntokens_per_day = 1\n`);
    const again = await set.restart();
    gate.resolve();
    await ann.dm.nextMessage('Heard: Dug.');
    await again.bot.idle();
    assert.equal(ann.dm.sent().length, 1);
  });
}

test('U10 of six calls of one moment no more runs begin than the limit allows', async (t) => {
  const gate = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  let asked = 0;
  let running = 0;
  const dig = digger(gate.promise);
  const { telegram, bot } = await startWholeBot(t, {
    toml: `${open}[limits.skill]\nconcurrent_runs = 2\n`,
    skills,
    script(body, index) {
      if (isRun(body)) running += 1;
      const step = typeof dig === 'function' ? dig(body, index) : '';
      if (typeof step !== 'object' || isRun(body) || !('content' in step)) return step;
      // All are told at once to use the skill.
      if ((asked += 1) === 6) all.resolve();
      return { ...step, wire: { hold: all.promise } };
    },
  });
  const people = Array.from({ length: 6 }, (_, n) => telegram.person({ name: `P${n}` }));
  for (const one of people) one.says('dig');
  const heard = await Promise.all(people.map(async ({ dm }) => (await dm.nextMessage()).text));
  assert.equal(heard.filter((text) => text === 'It runs.').length, 2, heard.join('\n'));
  assert.equal(heard.filter((text) => /^Not now: The skill dig’s limit of 2 runs/.test(text)).length, 4);
  gate.resolve();
  await bot.idle();
  assert.equal(running, 2);
});
