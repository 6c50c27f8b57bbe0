import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const skillOf = (front: string): string => `---\nname: dig\ndescription: Digs.\n${front}---\nDig.\n`;
const words = 'I look into the ground first.';

/** A person asks; the main agent says something and starts a skill, whose run lasts until `held` resolves. */
async function ask(t: TestContext, { model = '', front = '' } = {}) {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const set = await startWholeBot(t, {
    toml: `[access]\ndm = "open"\n[models.other]\nmodel = "claude-opus-5-5"\n${model}`,
    skills: { dig: skillOf(front) },
    script: (body) => {
      if (isRun(body)) return { content: [{ type: 'text', text: 'Found.' }], wire: { hold: held.promise } };
      if (JSON.stringify(body.messages.at(-1)).includes('tool_result')) return 'It is there.';
      const input = { skill: 'dig', message: 'Find it.' };
      return {
        content: [
          { type: 'text', text: words },
          { type: 'tool_use', id: 'toolu_dig', name: 'use_skill', input },
        ],
      };
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('where is it?');
  const settings = (index: number) => {
    const { thinking, output_config: output } = set.messages.requests[index]?.body ?? assert.fail();
    return [thinking?.type, output?.effort];
  };
  return { ...set, ann, held, settings };
}

test('M16 U13 what the model says before its calls is read while they last, with the settings for a chat', async (t) => {
  const { ann, held, settings } = await ask(t);
  const line = await ann.dm.nextMessage(words);
  assert.deepEqual([line.text.startsWith(`${words} · `), line.silent], [true, true]);
  held.resolve();
  await ann.dm.nextMessage('It is there.');
  assert.deepEqual([settings(0), settings(1)], Array(2).fill(['between_tools', 'medium']));
});

test('M16 with adaptive thinking these words are thinking, which nobody reads', async (t) => {
  const { ann, held, settings } = await ask(t, { model: '[agent]\nmodel = "other"\n' });
  await ann.dm.nextMessage('dig: step 1');
  held.resolve();
  await ann.dm.nextMessage('It is there.');
  assert.deepEqual(settings(0), [undefined, 'medium']);
  assert.ok(ann.dm.everSent().every(({ texts }) => texts.every((text) => !text.includes('ground'))));
});

for (const [front, model, run] of [
  ['effort: low\n', '', 'low'],
  ['effort: max\n', '', 'high'],
  ['effort: high\n', 'effort = "low"\n', 'low'],
  ['effort: low\n', 'effort = "high"\n', 'low'],
] as const)
  test(`M16 a skill’s ${front.trim()} holds for its runs, within the operator’s bound (${model.trim() || 'none'})`, async (t) => {
    const own = '[agent]\nmodel = "other"\n[skills.dig]\nmodel = "other"\n';
    const { ann, held, settings } = await ask(t, { front, model: `${model}${own}` });
    held.resolve();
    await ann.dm.nextMessage('It is there.');
    const main = model === '' ? 'medium' : /"(\w+)"/.exec(model)?.[1];
    assert.deepEqual([settings(0)[1], settings(1)[1]], [main, run]);
  });
