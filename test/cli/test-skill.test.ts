import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { readTape, writeTape } from '../../src/cli/skill-tests/model-tape.ts';
import type { SkillTest } from '../../src/cli/skill-tests/case-ground.ts';
import { testSkill, type TestedSkill } from '../../src/cli/skill-tests/test-skill.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { secretsOfConfig } from '../../src/config/secrets-of-config.ts';
import { createRedactor } from '../../src/lib/redaction/redact.ts';
import { marker } from '../../src/skills/written-marker.ts';
import { makeRoot, put, silent, skillText } from '../skills/make-root.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { ownTemporary } from '../support/own-temporary.ts';
import { call, isRun, lastOf } from '../support/skill-writing-model.ts';

const key = 'test-key-0123456789';
const docs = path.join(import.meta.dirname, '../../docs/skill-authors.md');

/** A home with this config and these files in its workspace's skills, and `test` for `skillet skill test`. */
function setUp(t: TestContext, files: Readonly<Record<string, string>>, toml = '') {
  const home = makeRoot(t);
  const skills = path.join(home, 'workspace/skills');
  for (const [name, content] of Object.entries(files)) put(skills, name, content);
  const parsed = parseConfig(toml, { env: {}, cwd: home, home });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  const run = (skill: string, more: Partial<SkillTest> = {}): Promise<TestedSkill> =>
    testSkill({ config, skill, env: {}, written: [], onOutcome: () => undefined, log: silent, ...more });
  return { home, skills, config, run };
}
const verdicts = (tested: TestedSkill): readonly (readonly [string, readonly string[]])[] => {
  assert.ok(tested.ok, JSON.stringify(tested));
  return tested.outcomes.map(({ name, problems }) => [name, problems] as const);
};

/** The files that a document shows: each block of code below a path in backquotes. */
function filesIn(markdown: string): Readonly<Record<string, string>> {
  const blocks = markdown.matchAll(/^`workspace\/skills\/([^`]+)`\n\n```\w+\n([^]*?)\n```$/gm);
  return Object.fromEntries([...blocks].map(([, name = '', text = '']) => [name, `${text}\n`]));
}

test('L3 L8 the example of docs/skill-authors.md passes as it is written there, without an account', async (t) => {
  const files = filesIn(readFileSync(docs, 'utf8'));
  assert.deepEqual(Object.keys(files), [
    'celsius/SKILL.md',
    'celsius/scripts/celsius.sh',
    'celsius/tests/basic.toml',
  ]);
  const temporary = ownTemporary(t);
  const { run, home } = setUp(t, files);
  assert.deepEqual(verdicts(await run('celsius')), [
    ['degrees are converted by the script', []],
    ['by its command, in a group', []],
    ['case 3', []],
  ]);
  assert.ok(!existsSync(path.join(home, 'data')), 'no store, no folder of its own');
  const left = readdirSync(temporary).filter((name) => name.startsWith('skillet-test-'));
  assert.deepEqual(left, [], 'and nothing is left behind');
});

test('L3 the bundled skills with tests pass them with the offline model', async (t) => {
  const { run } = setUp(t, {});
  for (const name of ['dice', 'summarize'])
    for (const [title, problems] of verdicts(await run(name)))
      assert.deepEqual(problems, [], `${name}: ${title}`);
});

const asks = {
  'mail/SKILL.md': skillText(
    'name: mail\ndescription: Reads mail.\nsensitive: true\nopt_in: true\nallowed-tools: skills_read_file',
    'Read references/box.md.',
  ),
  'mail/references/box.md': 'Two letters.\n',
  'other/SKILL.md': skillText('name: other\ndescription: Something else.'),
  'mail/tests/a.toml': `[[case]]
name = "in private"
message = "any mail?"
skill = "mail"
must_call = ["skills_read_file"]
may_call = []
[case.result]
contains = "Two letters"
[case.answer]
contains = "Two letters"

[[case]]
name = "not in a group"
message = "any mail?"
chat_type = "group"
skill = "none"

[[case]]
name = "for nobody else"
message = "any mail?"
sender = "telegram:42"
skill = "none"

[[case]]
name = "alone"
message = "what is there?"
alone = true
[case.answer]
lacks = "other"
`,
};

/** Uses `mail` where it is offered, and names what is there. */
const answer = (body: Parameters<typeof isRun>[0], index: number) => {
  const last = lastOf(body);
  if (isRun(body))
    return /tool_result/.test(last)
      ? `Two letters, key ${key}.`
      : call(`r${index}`, 'skills_read_file', { path: 'references/box.md' });
  if (/<output>/.test(last)) return 'You have Two letters.';
  const tool = body.tools?.find(({ name }) => name === 'use_skill');
  const offered = JSON.stringify(tool ?? {});
  if (/any mail/.test(last) && /"mail"/.test(offered))
    return call(`m${index}`, 'use_skill', { skill: 'mail', message: 'x' });
  return `There is ${offered}`;
};
const toml = (url: string): string =>
  `[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${url}"\napi_key = "${key}"\n[skills.mail]\nallow_users = ["terminal:owner"]\n`;

test('L3 cases judge who may use a skill where, with the catalogue of all or of just this one', async (t) => {
  const server = await startMessagesServer({ script: answer, apiKey: key });
  t.after(() => server.close());
  const { run } = setUp(t, asks, toml(server.url));
  assert.deepEqual(
    verdicts(await run('mail')).map(([name, problems]) => [name, problems.length]),
    [
      ['in private', 0],
      ['not in a group', 0],
      ['for nobody else', 0],
      ['alone', 0],
    ],
  );
});

test('L3 S2 a recording is replayed without any network, holds no secret, and tells when it does not fit', async (t) => {
  const server = await startMessagesServer({ script: answer, apiKey: key });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close());
  t.after(close);
  const { run, home, config, skills } = setUp(t, asks, toml(server.url));
  const recorded = await run('mail');
  assert.ok(recorded.ok);
  const asked = server.requests.length;
  await close();
  const file = path.join(home, 'tape.json');
  await writeTape(file, recorded.exchanges, createRedactor(secretsOfConfig(config)));
  const text = readFileSync(file, 'utf8');
  assert.doesNotMatch(text, new RegExp(key));
  assert.match(text, /\[redacted [^\]]+\]/);
  const tape = await readTape(file);
  const replay = verdicts(await run('mail', { tape }));
  assert.deepEqual([replay.flatMap(([, problems]) => problems), server.requests.length], [[], asked]);
  const cases = Object.fromEntries(Object.entries(tape.cases).map(([name, all]) => [name, all.slice(1)]));
  const wrong = verdicts(await run('mail', { tape: { ...tape, cases } }));
  assert.match(wrong[0]![1].join(), /record it again/);
  assert.match(wrong[1]![1].join(), /the recording has only 0 answers: record it again/);
  await writeFile(path.join(skills, 'mail/references/box.md'), 'Nothing.\n');
  await assert.rejects(readTape(path.join(skills, 'mail/SKILL.md')), /no recording/);
});

test('L3 a case that fails says why, and cases that are wrong are not carried out', async (t) => {
  const { run } = setUp(t, {
    'bad/SKILL.md': skillText('name: bad\ndescription: Zebra things.'),
    'bad/tests/a.toml':
      '[[case]]\nmessage = "zebra things"\nskill = "none"\n[case.answer]\ncontains = "blue"\n',
    'worse/SKILL.md': skillText('name: worse\ndescription: Others.'),
    'worse/tests/a.toml': '[[case]]\nmesage = "x"\n',
    'none/SKILL.md': skillText('name: none\ndescription: Others.'),
  });
  const [[, problems = []] = []] = verdicts(await run('bad'));
  assert.match(problems.join('\n'), /a skill was used, bad, and none should be\nthe answer lacks "blue"/);
  const worse = await run('worse');
  assert.ok(!worse.ok && worse.problems.some(({ line }) => line === 2));
  await assert.rejects(run('none'), /none has no tests: write .*none\/tests\/basic\.toml/);
  await assert.rejects(run('wors'), /There is no skill "wors"\. Near: worse/);
});

test('L3 D9 a skill that the bot wrote is tested before it is enabled, on a copy that changes nothing', async (t) => {
  const files = filesIn(readFileSync(docs, 'utf8'));
  const { run, skills } = setUp(t, { ...files, [`celsius/${marker}`]: '' });
  await mkdir(path.join(skills, '.replaced'));
  for (const [name, problems] of verdicts(await run('celsius'))) assert.deepEqual(problems, [], name);
  assert.deepEqual(readdirSync(skills).sort(), ['.replaced', 'celsius']);
});

test('L3 T8 a case says what is answered where the policy asks; without a word nobody is there to ask', async (t) => {
  const files = filesIn(readFileSync(docs, 'utf8'));
  const asking = (more: string): string => `[[case]]\nmessage = "/celsius 50"\n${more}`;
  const cases = [
    asking('approve = true\n[case.result]\njson = { celsius = 10 }\n'),
    asking('approve = false\n[case.result]\ncontains = "the person said no to this call"\n'),
    asking('[case.result]\ncontains = "nobody can be asked here"\n'),
  ];
  const toml = '[policy]\nmoderate = "confirm"\n';
  const { run } = setUp(t, { ...files, 'celsius/tests/basic.toml': cases.join('\n') }, toml);
  for (const [name, problems] of verdicts(await run('celsius'))) assert.deepEqual(problems, [], name);
});
