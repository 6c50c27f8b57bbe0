import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\n';
const tone = `---\nname: tone\ndescription: Sets the tone.\ncontext: inline\nallowed_tools: [skills_search]\n---\nSpeak like $ARGUMENTS.\n`;
const dig = '---\nname: dig\ndescription: Digs.\n---\nDig.\n';

const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const toolsOf = (body: MessagesRequest): readonly string[] => (body.tools ?? []).map(({ name }) => name);
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const call = (id: string, name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id, name, input }],
});

test('U8 T6 M13 the main agent follows an inline skill itself, may call less, and is free again in the next turn', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: open,
    skills: { tone, dig },
    script: (body) => {
      const last = lastOf(body);
      if (/Speak like a pirate/.test(last))
        return call('toolu_2', 'use_skill', { skill: 'dig', message: 'x' });
      if (/TOOL_NOT_ALLOWED/.test(last)) return 'Arr.';
      if (/talk like/.test(last))
        return call('toolu_1', 'use_skill', { skill: 'tone', message: 'x', args: 'a pirate' });
      return 'As ever.';
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('talk like a pirate');
  await ann.dm.nextMessage('Arr.');
  ann.says('hello');
  await ann.dm.nextMessage('As ever.');
  const asked = messages.requests.map(({ body }) => body);
  assert.ok(!asked.some(isRun), 'nothing ran apart');
  const full = toolsOf(asked[0]!);
  assert.ok(full.includes('use_skill') && full.includes('skills_load'));
  // The list stays, and the load says what of it may be called.
  for (const body of asked) assert.deepEqual(toolsOf(body), full);
  assert.match(
    lastOf(asked[1]!),
    /you may call only: skills_list, skills_load, skills_read_file, skills_search/,
  );
  assert.match(JSON.stringify(asked[3]!.messages), /\[Skill tone was followed here\]/);
  assert.doesNotMatch(JSON.stringify(asked[3]!.messages), /Speak like/);
});

test('I6 T6 /name of an inline skill asks the main agent at once, and a restart in between frees nothing', async (t) => {
  const reached = Promise.withResolvers<void>();
  const first = await startWholeBot(t, {
    toml: `${open}[bot]\nshutdown_seconds = 1\n`,
    skills: { tone, dig },
    script: (body, index) => {
      if (index > 0 && /TOOL_NOT_ALLOWED/.test(lastOf(body))) return 'Arr.';
      if (index > 0) return call('toolu_1', 'use_skill', { skill: 'dig', message: 'x' });
      reached.resolve();
      const never = new Promise<void>(() => undefined);
      return { content: [{ type: 'text' as const, text: 'never' }], wire: { hold: never } };
    },
  });
  const ann = first.telegram.person({ name: 'Ann' });
  ann.says('/tone a pirate');
  await reached.promise;
  const { messages } = await first.restart();
  await ann.dm.nextMessage('Arr.');
  const asked = messages.requests.map(({ body }) => body);
  assert.match(
    lastOf(asked[0]!),
    /\[Skill: tone\].*ALLOWED_TOOLS_ENFORCED.*<instruction skill=\\"tone\\">\\nSpeak like a pirate\.\\n<\/instruction>/,
  );
  assert.equal(asked.length, 3);
  assert.ok(!asked.some(isRun));
});

test('R1 in a run there is no way to other skills', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: open,
    skills: { tone, dig },
    script: (body) => {
      if (isRun(body))
        return /TOOL_NOT_ALLOWED/.test(lastOf(body))
          ? 'Refused.'
          : call('toolu_1', 'skills_load', { skill: 'tone' });
      return 'It was refused.';
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/dig x');
  await ann.dm.nextMessage('It was refused.');
  const run = messages.requests.map(({ body }) => body).filter(isRun);
  assert.equal(run.length, 2);
  const others = ['skills_list', 'skills_search', 'skills_load', 'use_skill'];
  assert.deepEqual(
    toolsOf(run[0]!).filter((name) => others.includes(name)),
    [],
  );
  assert.ok(toolsOf(run[0]!).includes('skills_read_file'));
  assert.doesNotMatch(JSON.stringify(run[1]!.messages), /Speak like/);
});

test('M1 U8 the offline model says that it cannot follow an inline skill', async (t) => {
  const { telegram } = await startWholeBot(t, { toml: open, skills: { tone } });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/tone a pirate');
  const { text } = await ann.dm.nextMessage(/This skill needs a language model/);
  assert.doesNotMatch(text, /Speak like/);
  ann.says('set the tone, please');
  await ann.dm.nextMessage(/This skill needs a language model/);
});
