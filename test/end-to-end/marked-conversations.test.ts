import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { isRun } from '../support/call-steps.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { talk } from '../support/talk.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml =
  '[access]\ndm = "open"\n[agent]\ntools = ["use_skill", "web_fetch"]\n[skills]\nbundled = false\n[bot]\nshutdown_seconds = 1\n';
const rule = '[[policy.rules]]\ntool = "web_*"\naction = "allow"\n';
const skill = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo ${name}.\n`;
const skills = {
  diary: skill('diary', 'sensitive: true\nallowed_tools: [web_fetch]\n'),
  weather: skill('weather', 'allowed_tools: [web_fetch, use_skill]\n'),
};
/** Loopback is refused by the tool itself: that it was called at all is what counts. */
const page = 'http://127.0.0.1/steal?d=';

const saidLast = ({ messages }: MessagesRequest): string => JSON.stringify(messages.at(-1)?.content);
const use = (name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${crypto.randomUUID().slice(0, 8)}`, name, input }],
});

/** Does what it is told: `use NAME`, `fetch URL`; in a run, what follows `run:`. Then it says what came of it. */
const obedient: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = saidLast(body);
  const result = /tool_result/.test(last);
  if (isRun(body)) {
    if (result)
      return /error TOOL_POLICY/.test(last) ? 'The run was refused.' : 'The run is over: lunch with Bob.';
    if (/run: the script/.test(last)) return use('skills_run_script', { path: 'scripts/send.sh' });
    if (/run: fetch it/.test(last)) return use('web_fetch', { url: `${page}lunch` });
    const inner = /run: use (\w+)/.exec(last)?.[1];
    return inner === undefined
      ? 'The run is over: lunch with Bob.'
      : use('use_skill', { skill: inner, message: 'go' });
  }
  if (/status.{0,6}running/.test(last)) return 'It waits.';
  if (result) {
    if (/not on the public internet/.test(last)) return 'Fetched, in a way.';
    if (/error TOOL_POLICY/.test(last)) return 'Refused.';
    return /The run was refused/.test(last) ? 'The run says refused.' : 'Used.';
  }
  if (/background run/.test(last)) return 'Woken.';
  const asked = /use (\w+) ?(run: [^"\\]*)?/.exec(last);
  if (asked !== null) return use('use_skill', { skill: asked[1], message: asked[2] ?? 'go' });
  const url = /fetch (\S+?)[\\"<]/.exec(last)?.[1] ?? '';
  return url === '' ? 'Hello.' : use('web_fetch', { url: url === 'it' ? `${page}lunch` : url });
};
const question = /wants? to use.*web_fetch.*reaches outside/s;

test('S7 after a sensitive skill has answered a fetch is asked for, over a rule and without Always; a typed address is not; /new ends it', async (t) => {
  const { telegram } = await startWholeBot(t, {
    flood: false,
    toml: toml + rule,
    script: obedient,
    skills,
  });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['fetch it', 'Fetched, in a way.'],
    ['use weather', 'Used.'],
    ['fetch it', 'Fetched, in a way.'],
    ['use diary', 'Used.'],
  ]);
  ann.says('fetch it');
  const asked = await ann.dm.nextMessage(question);
  assert.deepEqual(asked.buttons, ['Approve', 'Deny']);
  ann.presses(asked.id, 'Deny');
  await ann.dm.nextMessage('Refused.');
  await talk(ann, [
    ['fetch http://127.0.0.1/typed?by=me', 'Fetched, in a way.'],
    ['/new', /New conversation/],
    ['fetch it', 'Fetched, in a way.'],
  ]);
});

test('S7 an address that was forwarded, or differs from the typed one, is asked for', async (t) => {
  const { telegram } = await startWholeBot(t, {
    flood: false,
    toml,
    skills,
    script: (body, ...more) => {
      const fetch = /now (\S+?)[\\"<]/.exec(saidLast(body))?.[1];
      return fetch === undefined || isRun(body) || /tool_result/.test(saidLast(body))
        ? obedient(body, ...more)
        : use('web_fetch', { url: `http://127.0.0.1/${fetch}` });
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['use diary', 'Used.'],
    ['see http://127.0.0.1/page?q=1#part, and http://127.0.0.1/other.', 'Hello.'],
  ]);
  ann.says('hello http://127.0.0.1/passed-on', { forwardedFrom: telegram.person({ name: 'Eve' }).user });
  await ann.dm.nextMessage('Hello.');
  for (const typed of ['page?q=1', 'page?q=1#elsewhere', 'other']) {
    ann.says(`now ${typed}`);
    await ann.dm.nextMessage('Fetched, in a way.');
  }
  for (const other of ['page', 'page?q=2', 'page?q=1&d=lunch', 'other/lunch', 'passed-on']) {
    ann.says(`now ${other}`);
    const asked = await ann.dm.nextMessage(question);
    ann.presses(asked.id, 'Deny');
    await ann.dm.nextMessage('Refused.');
  }
});

test('S7 the mark goes into runs and comes out of them, and survives a restart', async (t) => {
  const set = await startWholeBot(t, {
    flood: false,
    toml,
    script: obedient,
    skills,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const refused = async (what: string): Promise<void> => {
    ann.says(what);
    const asked = await ann.dm.nextMessage(question);
    ann.presses(asked.id, 'Deny');
    await ann.dm.nextMessage('The run says refused.');
  };
  ann.says('use weather run: fetch it');
  await ann.dm.nextMessage('Used.');
  // A run of a sensitive skill knows what it is not to tell.
  await refused('use diary run: fetch it');
  await set.restart();
  await refused('use weather run: fetch it');
  ann.says('fetch it');
  ann.presses((await ann.dm.nextMessage(question)).id, 'Deny');
  await ann.dm.nextMessage('Refused.');
});

test('S7 a run that used a sensitive skill marks who began it, in the background too', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml,
    skills: { ...skills, weather: skill('weather', 'background: true\nallowed_tools: [use_skill]\n') },
    script: obedient,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('use weather run: use diary');
  await ann.dm.nextMessage('It waits.');
  await ann.dm.nextMessage('Woken.');
  ann.says('fetch it');
  await ann.dm.nextMessage(question);
});

test('S7 what a run knows that was begun before /new marks the new conversation that it wakes', async (t) => {
  const { telegram } = await startWholeBot(t, {
    flood: false,
    toml,
    skills: { ...skills, weather: skill('weather', 'background: true\nallowed_tools: [web_fetch]\n') },
    script: obedient,
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('use diary');
  await ann.dm.nextMessage('Used.');
  ann.says('use weather run: fetch it');
  const asked = await ann.dm.nextMessage(question);
  await talk(ann, [
    ['/new', /New conversation/],
    ['fetch it', 'Fetched, in a way.'],
  ]);
  ann.presses(asked.id, 'Deny');
  await ann.dm.nextMessage('Woken.');
  ann.says('fetch it');
  await ann.dm.nextMessage(question);
});

test('S7 a skill that a person started marks, and one that config calls sensitive', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: `${toml}[skills.weather]\nsensitive = true\n`,
    skills,
    script: obedient,
  });
  const ann = telegram.person({ name: 'Ann' });
  await talk(ann, [
    ['/weather now', /./],
    ['fetch it', question],
  ]);
});

test('S7 a sensitive skill may use its script again and again; once another one has answered it is asked for', async (t) => {
  if (bubblewrapHere.skip !== false) return t.skip(bubblewrapHere.skip);
  const mail = 'sensitive: true\nnetwork: [mail.example.org]\n';
  const { telegram, home } = await startWholeBot(t, {
    sandbox: 'auto',
    flood: false,
    toml: `${toml}[policy]\ndangerous = "allow"\ncritical = "allow"\n`,
    skills: { ...skills, mail: skill('mail', mail) },
    script: obedient,
  });
  const scripts = path.join(home, 'workspace', 'skills', 'mail', 'scripts');
  await mkdir(scripts);
  await writeFile(path.join(scripts, 'send.sh'), 'echo sent\n', { mode: 0o755 });
  const ann = telegram.person({ name: 'Ann' });
  for (let n = 0; n < 2; n++) {
    ann.says('use mail run: the script');
    await ann.dm.nextMessage('Used.');
  }
  ann.says('use diary');
  await ann.dm.nextMessage('Used.');
  ann.says('use mail run: the script');
  const asked = await ann.dm.nextMessage(/wants? to use.*skills_run_script.*reaches outside/s);
  ann.presses(asked.id, 'Deny');
  await ann.dm.nextMessage('The run says refused.');
});

test('S7 while a sensitive skill works in the background, and after it was stopped, a fetch is asked for', async (t) => {
  const ended = Promise.withResolvers<void>();
  t.after(() => ended.resolve());
  const { telegram } = await startWholeBot(t, {
    flood: false,
    toml: toml + rule,
    skills: { ...skills, diary: skill('diary', 'sensitive: true\nbackground: true\n') },
    script: async (body, ...more) => {
      if (isRun(body)) await ended.promise;
      return obedient(body, ...more);
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  const refused = async (): Promise<void> => {
    ann.says('fetch it');
    ann.presses((await ann.dm.nextMessage(question)).id, 'Deny');
    await ann.dm.nextMessage('Refused.');
  };
  await talk(ann, [
    ['fetch it', 'Fetched, in a way.'],
    ['use diary', 'It waits.'],
  ]);
  await refused();
  await talk(ann, [['/stop', /./]]);
  await refused();
});

test('S7 files of a sensitive skill mark as its instructions do, and so does the bot’s own old message after /new', async (t) => {
  const { telegram, home } = await startWholeBot(t, {
    flood: false,
    toml: toml.replace('"use_skill",', '"use_skill", "skills_read_file",') + rule,
    skills,
    script: (body, ...more) =>
      /read diary/.test(saidLast(body))
        ? use('skills_read_file', { skill: 'diary', path: 'people.md' })
        : obedient(body, ...more),
  });
  await writeFile(path.join(home, 'workspace', 'skills', 'diary', 'people.md'), 'Bob likes soup.');
  const ann = telegram.person({ name: 'Ann' });
  ann.says('hello');
  const before = await ann.dm.nextMessage('Hello.');
  ann.says('fetch it', { replyTo: before.id });
  await ann.dm.nextMessage('Fetched, in a way.');
  ann.says('read diary');
  const told = await ann.dm.nextMessage('Used.');
  ann.says('fetch it');
  ann.presses((await ann.dm.nextMessage(question)).id, 'Deny');
  await ann.dm.nextMessage('Refused.');
  await talk(ann, [
    ['/new', /New conversation/],
    ['fetch it', 'Fetched, in a way.'],
  ]);
  ann.says('fetch it', { replyTo: told.id });
  await ann.dm.nextMessage(question);
});
