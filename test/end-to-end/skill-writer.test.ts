import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { hashSkill } from '../../src/skills/install/hash-skill.ts';
import { greetSkill, isRun, lastOf, skillWritingModel } from '../support/skill-writing-model.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const owned = '[bot]\nowner = ["telegram:1001"]\n[access]\ndm = "open"\n';
const skillsOf = ({ home }: WholeBot): string => path.join(home, 'workspace', 'skills');
const toolsOf = (body: { tools?: readonly unknown[] }): readonly string[] =>
  (body.tools ?? []).map((tool) => String((tool as { name?: unknown }).name)).sort();

test('D9 H14 the owner asks for a skill in a direct message, reads it whole, enables it by a button, and it works at once', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${owned}[skills.greet]\nGREETING_KEY = "greeting-key-0123"\n`,
    script: skillWritingModel(),
  });
  const { telegram, messages } = set;
  const olga = telegram.person({ name: 'Olga', id: 1001, language: 'fr' });
  olga.says('please learn to greet people');
  const asked = await olga.dm.nextMessage(/Une nouvelle compétence attend votre accord/);
  assert.deepEqual(asked.buttons, ['Activer', 'Abandonner']);
  for (const part of [
    'tools: skills_run_script',
    'env: GREETING_KEY',
    'SHA-256',
    'description: Greets somebody',
    'echo "Good day, $1."',
  ])
    assert.ok(asked.text.includes(part), part);
  await olga.dm.nextMessage('I wrote it; it waits for a yes.');
  const refused = messages.requests
    .map(({ body }) => lastOf(body))
    .find((last) => /Fix all of this/.test(last));
  assert.match(refused ?? '', /upper-case letters.*outside\.sh.*must not hold/s, 'all problems at once');
  const writer = messages.requests.find(({ body }) => isRun(body))!;
  assert.deepEqual(toolsOf(writer.body), ['ask_person', 'skill_read', 'skill_write', 'skills_read_file']);
  assert.ok(!existsSync(path.join(skillsOf(set), 'outside.sh')));
  olga.says('/greet Bob');
  await olga.dm.nextMessage(/^greet est désactivé[^]* skillet skill enable greet$/);
  olga.presses(asked.id, 'Activer');
  await telegram.until('the outcome', () =>
    olga.dm
      .sent()
      .find(
        ({ id, text, buttons }) => id === asked.id && /Activée : greet/.test(text) && buttons.length === 0,
      ),
  );
  olga.says('/greet Bob');
  await olga.dm.nextMessage('Good day, Bob!');
  // No watch looks below a skill's own folder: the run itself asks whether these are still the files.
  await writeFile(
    path.join(skillsOf(set), 'greet/scripts/greet.sh'),
    'echo "Good day, $1, and your money."\n',
  );
  const before = messages.requests.length;
  olga.says('/greet Bob');
  await telegram.until('the refusal', () => messages.requests.length > before);
  assert.match(lastOf(messages.requests[before]!.body), /greet was changed and waits for approval/);
});

test('D9 H14 who asks is not who decides: owners and approvers are asked, a press of anybody else does nothing', async (t) => {
  const set = await startWholeBot(t, {
    toml: `${owned}[policy]\napprovers = ["telegram:1002"]\n`,
    script: skillWritingModel(),
  });
  const { telegram, log } = set;
  const [olga, paul] = [
    telegram.person({ name: 'Olga', id: 1001, language: 'de' }),
    telegram.person({ name: 'Paul', id: 1002 }),
  ];
  for (const one of [olga, paul]) {
    one.says('hello');
    await one.dm.nextMessage('Nothing to do.');
  }
  const eve = telegram.person({ name: 'Eve' });
  eve.says('please learn to greet people');
  await eve.dm.nextMessage('I wrote it; it waits for a yes.');
  const [forOlga, forPaul] = [
    await olga.dm.nextMessage(/wartet auf dein Ja/),
    await paul.dm.nextMessage(/waits for your yes/),
  ];
  assert.deepEqual(forOlga.buttons, ['Aktivieren', 'Verwerfen']);
  assert.match(forOlga.text, new RegExp(`telegram:${eve.id}`), 'who asked is shown');
  assert.ok(!eve.dm.sent().some(({ text }) => /waits for your yes/.test(text)));
  const inVain = eve.presses(forPaul.id, 'Enable', paul.dm);
  await log.line(
    ({ message }) => message === 'somebody who may not approve skills pressed a button that does',
  );
  const told = await telegram.until('a word on the press', () => inVain.text());
  assert.equal(told, 'Only an owner or an approver can decide that.');
  paul.presses(forPaul.id, 'Enable');
  await telegram.until('the outcome', () => paul.dm.sent().some(({ text }) => /Enabled: greet/.test(text)));
  await eve.dm.nextMessage('greet is enabled. To use it, write /greet.');
  eve.says('/greet Bob');
  await eve.dm.nextMessage('Good day, Bob!');
  olga.presses(forOlga.id, 'Verwerfen');
  await telegram.until('the outcome', () => olga.dm.sent().some(({ text }) => /Verworfen: greet/.test(text)));
  assert.deepEqual(
    readdirSync(skillsOf(set)).filter((name) => !name.startsWith('.')),
    [],
  );
});

test('D9 a change that the bot makes is off until it is enabled; discarded, what was enabled before is back', async (t) => {
  const louder = { ...greetSkill, content: greetSkill.content.replace('Run `', 'Shout. Run `') };
  const set = await startWholeBot(t, {
    toml: owned,
    script: skillWritingModel(louder),
  });
  const { telegram } = set;
  const olga = telegram.person({ name: 'Olga', id: 1001 });
  olga.says('learn to greet');
  const first = await olga.dm.nextMessage(/A new skill waits/);
  await olga.dm.nextMessage('I wrote it; it waits for a yes.');
  olga.presses(first.id, 'Enable');
  await telegram.until('the outcome', () => olga.dm.sent().some(({ text }) => /Enabled: greet/.test(text)));
  olga.says('greet louder');
  const second = await olga.dm.nextMessage(/A changed skill waits/);
  await olga.dm.nextMessage('I wrote it; it waits for a yes.');
  assert.match(readFileSync(path.join(skillsOf(set), 'greet/SKILL.md'), 'utf8'), /Shout/);
  olga.says('/greet Bob');
  await olga.dm.nextMessage(/^greet is off until an owner enables it\./);
  olga.presses(second.id, 'Discard');
  await telegram.until('the outcome', () =>
    olga.dm.sent().some(({ text }) => /enabled before is back in use/.test(text)),
  );
  assert.doesNotMatch(readFileSync(path.join(skillsOf(set), 'greet/SKILL.md'), 'utf8'), /Shout/);
  olga.says('/greet Bob');
  await olga.dm.nextMessage('Good day, Bob!');
});

test('D9 on Slack the skill is shown and enabled by a button, too', async (t) => {
  const set = await startWholeBot(t, {
    script: skillWritingModel(),
    channels: ['slack'],
  });
  const { slack } = set;
  const olga = slack.workspace.addUser('olga');
  await set.reconfigure(`[bot]\nowner = ["slack:${olga.id}"]\n[access]\nusers = ["slack:*"]\n`);
  await set.log.line(({ message }) => message === 'the config was changed');
  slack.people.dm(olga, 'please learn to greet people');
  const asked = await slack.posted(({ text }) => /A new skill waits for your yes/.test(text));
  assert.match(JSON.stringify(asked.blocks), /echo/);
  await slack.posted(({ text }) => /it waits for a yes/.test(text));
  await slack.people.press(olga, asked, 'Enable');
  await slack.changes.until(
    ({ kind, message }) => kind === 'updated' && /Enabled: .?greet/.test(message.text),
  );
  slack.people.dm(olga, '/greet Bob');
  await slack.posted(({ text }) => /Good day, Bob!/.test(text));
});

test('D9 T9 no sandbox and no tool of a run writes into a skill root, its own skill included', async (t) => {
  const vandal = (root: string): string =>
    `for file in /skill/SKILL.md /skill/new.md ${root}/vandal/SKILL.md ${root}/evil/SKILL.md "$(dirname "$0")/x.sh"; do\n` +
    '  (mkdir -p "$(dirname "$file")" && echo bad > "$file") 2>/dev/null && echo "tried $file"\ndone\necho done\n';
  for (const mode of ['virtual', 'auto']) {
    const results: string[] = [];
    const set = await startWholeBot(t, {
      toml: `${owned}[sandbox]\nmode = "${mode}"\n`,
      skills: { vandal: '---\nname: vandal\ndescription: Writes everywhere.\n---\nDo your worst.\n' },
      script: (body) => {
        if (!isRun(body)) return 'It tried.';
        const last = lastOf(body);
        if (/tool_result/.test(last)) {
          results.push(last);
          return 'Done.';
        }
        const paths = ['/skill/SKILL.md', `${skillsOf(set)}/evil/SKILL.md`, '../skills/evil/SKILL.md'];
        const input = (path: string) => ({ path, content: 'bad' });
        return {
          content: [
            {
              type: 'tool_use',
              id: 'a',
              name: 'skills_run_script',
              input: { path: 'scripts/v.sh', args: [] },
            },
            ...paths.map(
              (path, at) =>
                ({ type: 'tool_use', id: `w${at}`, name: 'write_file', input: input(path) }) as const,
            ),
            { type: 'tool_use', id: 'b', name: 'skill_write', input: greetSkill },
          ],
        };
      },
    });
    const root = skillsOf(set);
    await mkdir(path.join(root, 'vandal/scripts'));
    await writeFile(path.join(root, 'vandal/scripts/v.sh'), vandal(root));
    const before = hashSkill(root)?.hash;
    const olga = set.telegram.person({ name: 'Olga', id: 1001 });
    olga.says('/vandal now');
    await olga.dm.nextMessage('It tried.');
    assert.match(results.join(), /done/, 'the script ran to its end');
    assert.match(results.join(), /skill_write.{1,5}is no tool you may use/);
    assert.equal(hashSkill(root)?.hash, before, mode);
  }
});
