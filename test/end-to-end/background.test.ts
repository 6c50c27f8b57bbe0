import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { makePlugin, onePlugin } from '../support/make-plugin.ts';
import { startWebSite } from '../servers/web-site.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const dig = (more = '') =>
  `---\nname: dig\ndescription: Digs for a long time.\n${more}---\nDig and say what you found.\n`;
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const textOf = (body: MessagesRequest): string => JSON.stringify(body.messages);
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const held = (text: string, hold: Promise<void>) => ({
  content: [{ type: 'text' as const, text }],
  wire: { hold },
});
const callDig = (id: string, input: object = {}) => ({
  content: [
    {
      type: 'tool_use' as const,
      id,
      name: 'use_skill',
      input: { skill: 'dig', message: 'Find the map.', background: true, ...input },
    },
  ],
});
/** Digs when a person asks; a result that nothing else knows is passed on as it is. */
const firstCall = (body: MessagesRequest, input: object = {}) =>
  /tool_result/.test(lastOf(body)) ? `It failed: ${lastOf(body)}` : callDig('toolu_1', input);
const open = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n';

test('U9 a run in the background answers at once, and its result wakes the conversation that asked', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { telegram, messages } = await startWholeBot(t, {
    toml: open,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) return held('The map is under the oak.', gate.promise);
      if (/under the oak/.test(lastOf(body))) return 'Found: under the oak.';
      if (/status.{0,5}running/.test(lastOf(body))) return 'It runs.';
      return /meanwhile/.test(lastOf(body)) ? 'Still here.' : firstCall(body);
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('It runs.');
  ann.says('meanwhile, hello');
  await ann.dm.nextMessage('Still here.');
  ann.says('/tasks');
  assert.match((await ann.dm.nextMessage(/background here/)).text, /[0-9a-f]{6} dig, for Ann, running since/);
  gate.resolve();
  await ann.dm.nextMessage('Found: under the oak.');
  const woken = messages.requests.at(-1)!.body;
  assert.match(lastOf(woken), /<host>.*background run [0-9a-f]{6} of the skill dig has ended/);
  assert.match(lastOf(woken), /<output>\\nThe map is under the oak/);
  ann.says('/tasks');
  await ann.dm.nextMessage(/Nothing runs in the background/);
  // U10: what was used is counted by who it was for, the run's share beside that of the answers.
  ann.says('/status');
  const told = (await ann.dm.nextMessage(/Your tokens today/)).text;
  assert.ok(Number(/today: ([\d,]+)/.exec(told)?.[1]?.replaceAll(',', '')) > 0, told);
});

test('U9 Q5 a run in the background goes on after a restart, and is answered once', async (t) => {
  const asked = Promise.withResolvers<void>();
  let runs = 0;
  const set = await startWholeBot(t, {
    toml: open,
    skills: { dig: dig('background: true\n') },
    script: (body) => {
      if (isRun(body)) {
        runs += 1;
        asked.resolve();
        return runs === 1 ? held('cut off', new Promise(() => undefined)) : 'The map is under the oak.';
      }
      if (/under the oak/.test(lastOf(body))) return 'Found it.';
      return /status.{0,5}running/.test(lastOf(body)) ? 'It runs.' : `It failed: ${lastOf(body)}`;
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/dig for the map');
  await ann.dm.nextMessage('It runs.');
  await asked.promise;
  const again = await set.restart();
  await ann.dm.nextMessage('Found it.');
  await again.bot.idle();
  assert.deepEqual(
    ann.dm.everSent().map(({ text }) => text),
    ['It runs.', 'Found it.'],
  );
});

test('U9 Q4 /stop with its id ends one run in the background', async (t) => {
  const asked = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: open,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) {
        asked.resolve();
        return held('never', new Promise(() => undefined));
      }
      return /status.{0,5}running/.test(lastOf(body)) ? 'It runs.' : firstCall(body);
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('It runs.');
  await asked.promise;
  ann.says('/tasks');
  const id = /([0-9a-f]{6}) dig/.exec((await ann.dm.nextMessage(/background here/)).text)?.[1] ?? '';
  ann.says('/stop ffffff0');
  await ann.dm.nextMessage(/no background run ffffff0 here/);
  ann.says(`/stop ${id}`);
  await ann.dm.nextMessage('Stopping.');
  await set.bot.idle();
  ann.says('/tasks');
  await ann.dm.nextMessage(/Nothing runs in the background/);
  assert.equal(set.messages.requests.filter(({ body }) => /never/.test(textOf(body))).length, 0);
});

test('U9 A8 a result whose skill was forbidden meanwhile is not delivered', async (t) => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: open,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) {
        asked.resolve();
        return held('SECRET MAP', gate.promise);
      }
      if (/has ended/.test(lastOf(body)))
        return /SKILL_NOT_FOUND|no skill/.test(lastOf(body))
          ? 'It gave nothing.'
          : `It gave: ${lastOf(body)}`;
      return /status.{0,5}running/.test(lastOf(body)) ? 'It runs.' : firstCall(body);
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('It runs.');
  await asked.promise;
  await set.skill('dig', dig('enabled: false\n'));
  await set.reconfigure(`${open}[skills.dig]\nenabled = false\n`);
  await set.log.line(({ message }) => message.includes('config was changed'));
  gate.resolve();
  await ann.dm.nextMessage('It gave nothing.');
  assert.ok(set.messages.requests.every(({ body }) => isRun(body) || !/SECRET MAP/.test(textOf(body))));
});

test('U9 ten runs go on in the background of a conversation, the next is refused', async (t) => {
  const calls = Array.from({ length: 11 }, (_, n) => callDig(`toolu_${n}`).content[0]);
  const results = Promise.withResolvers<string>();
  const set = await startWholeBot(t, {
    toml: `${open}[limits]\nconcurrent_runs = 0\n[limits.chat]\nconcurrent_runs = 0\n`,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) return held('never', new Promise(() => undefined));
      if (!/tool_result/.test(lastOf(body))) return { content: calls.flatMap((call) => call ?? []) };
      results.resolve(lastOf(body));
      return /status.{0,6}running/.test(lastOf(body)) ? 'Ten run.' : `It failed: ${lastOf(body)}`;
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('dig everywhere');
  await ann.dm.nextMessage('Ten run.');
  const told = await results.promise;
  assert.equal(told.match(/status.{0,6}running/g)?.length, 10);
  assert.equal(told.match(/LIMIT_REACHED/g)?.length, 1);
  ann.says('/stop');
  await ann.dm.nextMessage(/Stopping/);
});

test('U9 a run that outlives detach_after_seconds goes on by itself: the conversation goes on, the result follows', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { telegram } = await startWholeBot(t, {
    toml: `${open}[agent]\ndetach_after_seconds = 1\n`,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) return held('The map is under the oak.', gate.promise);
      if (/under the oak/.test(lastOf(body))) return 'Found: under the oak.';
      if (/status.{0,5}running/.test(lastOf(body))) return 'It takes longer.';
      return /meanwhile/.test(lastOf(body)) ? 'Still here.' : firstCall(body, { background: false });
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('It takes longer.');
  ann.says('meanwhile, hello');
  await ann.dm.nextMessage('Still here.');
  gate.resolve();
  await ann.dm.nextMessage('Found: under the oak.');
});

test('U9 X1 a plugin’s call that outlives detach_after_seconds goes on by itself, is made once, and its result follows', async (t) => {
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const site = await startWebSite((_, response) => {
    calls += 1;
    void gate.promise.then(() => response.end('under the oak'));
  });
  t.after(() => site.close());
  const run = `run: async () => (await fetch('http://127.0.0.1:${site.port}/')).text()`;
  const folder = await makePlugin(t, onePlugin(`name: 'slow_search', ${run}`));
  const { telegram } = await startWholeBot(t, {
    toml: `${open}[agent]\ndetach_after_seconds = 1\n[[plugins]]\npath = "${folder}"\n`,
    script: (body) => {
      if (/under the oak/.test(lastOf(body))) return 'Found: under the oak.';
      if (/status.{0,5}running/.test(lastOf(body))) return 'It takes longer.';
      if (/tool_result/.test(lastOf(body))) return `It failed: ${lastOf(body)}`;
      if (/meanwhile/.test(lastOf(body))) return 'Still here.';
      return { content: [{ type: 'tool_use', id: 'toolu_1', name: 'slow_search', input: {} }] };
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('It takes longer.');
  ann.says('meanwhile, hello');
  await ann.dm.nextMessage('Still here.');
  gate.resolve();
  await ann.dm.nextMessage('Found: under the oak.');
  assert.equal(calls, 1);
});

test('U9 U4 a run that ends in time is told once: in the turn that began it, not again as an item of its own', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: open,
    skills: { dig: dig() },
    script: (body) => {
      if (isRun(body)) return 'The map is under the oak.';
      if (/under the oak/.test(lastOf(body))) return 'Found: under the oak.';
      return /hello/.test(lastOf(body)) ? 'Hello.' : firstCall(body, { background: false });
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('find the map');
  await ann.dm.nextMessage('Found: under the oak.');
  ann.says('hello');
  await ann.dm.nextMessage('Hello.');
  assert.equal(messages.requests.filter(({ body }) => /under the oak/.test(lastOf(body))).length, 1);
  assert.doesNotMatch(textOf(messages.requests.at(-1)!.body), /has ended/);
});
