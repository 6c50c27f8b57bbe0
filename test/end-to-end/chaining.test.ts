import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n';
const systemOf = (body: MessagesRequest): string => JSON.stringify(body.system);
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const runOf = (body: MessagesRequest): string | undefined =>
  /You carry out the skill \\"([a-z]+)\\"/.exec(systemOf(body))?.[1];
const use = (skill: string) => ({
  content: [
    { type: 'tool_use' as const, id: `toolu_${skill}`, name: 'use_skill', input: { skill, message: 'go' } },
  ],
});
const skill = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo ${name}.\n`;
const chains = 'allowed-tools: use_skill\n';

/** Each skill named uses the next; what comes back is passed on. */
function passOn(next: Readonly<Record<string, string>>) {
  return (body: MessagesRequest) => {
    const run = runOf(body);
    const last = lastOf(body);
    if (/tool_result/.test(last)) {
      const told = /(RECURSION_LIMIT|TOOL_NOT_ALLOWED|SKILL_NOT_FOUND|the deepest word)/.exec(last)?.[1];
      return `${run ?? 'main'} heard ${told ?? 'nothing'}`;
    }
    const wanted = next[run ?? 'main'];
    return wanted === undefined ? 'the deepest word' : use(wanted);
  };
}

test('U7 a run that lists use_skill uses another skill, whose result stays inside it', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills: { outer: skill('outer', chains), inner: skill('inner') },
    script: passOn({ main: 'outer', outer: 'inner' }),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('go');
  await ann.dm.nextMessage(/^main heard the deepest word$/);
  const inOuter = messages.requests
    .filter(({ body }) => runOf(body) === 'outer')
    .map(({ body }) => lastOf(body));
  assert.match(inOuter[1] ?? '', /<output>\\nthe deepest word\\n<\/output>/);
  const inMain = messages.requests
    .filter(({ body }) => runOf(body) === undefined)
    .map(({ body }) => lastOf(body));
  assert.match(inMain[1] ?? '', /<output>\\nouter heard the deepest word\\n<\/output>/);
});

test('U7 without use_skill written out a run is not offered it and may not call it', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills: {
      outer: skill('outer'),
      globbed: skill('globbed', 'allowed-tools: "*"\n'),
      inner: skill('inner'),
    },
    script: (body) =>
      /globbed/.test(lastOf(body)) && runOf(body) === undefined && !/tool_result/.test(lastOf(body))
        ? use('globbed')
        : passOn({ main: 'outer', outer: 'inner', globbed: 'inner' })(body),
  });
  const ann = telegram.person({ name: 'Ann' });
  for (const word of ['go', 'go globbed']) {
    ann.says(word);
    await ann.dm.nextMessage(/^main heard TOOL_NOT_ALLOWED$/);
  }
  const runs = messages.requests.filter(({ body }) => runOf(body) !== undefined);
  assert.ok(runs.every(({ body }) => !JSON.stringify(body.tools ?? []).includes('use_skill')));
  assert.equal(runs.filter(({ body }) => /TOOL_NOT_ALLOWED/.test(lastOf(body))).length, 2);
  assert.ok(!runs.some(({ body }) => runOf(body) === 'inner'));
});

for (const [what, next, way] of [
  ['no skill inside itself', { main: 'a', a: 'b', b: 'a' }, 'a → b → a'],
  ['none deeper than three', { main: 'a', a: 'b', b: 'c', c: 'd' }, 'a → b → c'],
] as const) {
  test(`U7 RECURSION_LIMIT: ${what}`, async (t) => {
    const { telegram, messages } = await startWholeBot(t, {
      toml,
      skills: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, skill(name, chains)])),
      script: passOn(next),
    });
    const ann = telegram.person({ name: 'Ann' });
    ann.says('go');
    await ann.dm.nextMessage(/^main heard RECURSION_LIMIT$/);
    const limited = messages.requests.filter(({ body }) => lastOf(body).includes('error RECURSION_LIMIT'));
    assert.equal(limited.length, 1);
    assert.ok(lastOf(limited[0]!.body).includes(way));
    assert.ok(!messages.requests.some(({ body }) => runOf(body) === 'd'));
  });
}

test('U7 A8 access is decided again for the inner skill: what is hidden from a model is not found', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml,
    skills: { outer: skill('outer', chains), inner: skill('inner', 'disable-model-invocation: true\n') },
    script: passOn({ main: 'outer', outer: 'inner' }),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/outer go');
  await ann.dm.nextMessage(/^main heard SKILL_NOT_FOUND$/);
  assert.ok(messages.requests.some(({ body }) => /SKILL_NOT_FOUND/.test(lastOf(body))));
  assert.ok(!messages.requests.some(({ body }) => runOf(body) === 'inner'));
});

test('U11 a profile adds to the system prompt, gives default tools and a model', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: `${toml}[agents.careful]\nprompt = "Measure twice."\ntools = ["skills_read_file"]\nmodel = "default/claude-careful"\n`,
    skills: { cut: skill('cut', 'agent: careful\n') },
    script: passOn({ main: 'cut' }),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('go');
  await ann.dm.nextMessage(/^main heard the deepest word$/);
  const run = messages.requests.find(({ body }) => runOf(body) === 'cut')!.body;
  assert.match(systemOf(run), /Measure twice\./);
  assert.equal(run.model, 'claude-careful');
  assert.ok((run.tools ?? []).every(({ name }) => name === 'skills_read_file' || name === 'ask_person'));
});
