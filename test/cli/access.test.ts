import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

const config = `[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:42"]
groups = ["telegram:-100"]
[access.chats."telegram:-100"]
group_users = ["telegram:50"]
[skills.dice]
allow_users = ["telegram:42"]
[skills.research]
chat_types = ["private"]
[skills.summarize]
enabled = false
`;

type Ruling = Readonly<{
  allowed: boolean;
  code?: string;
  rule?: { name: string; line?: number; path?: string };
  change?: string;
}>;
type Answer = Readonly<{ talk: Ruling; skills: readonly Readonly<{ name: string; ruling: Ruling }>[] }>;

async function withConfig(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await home.write('config.toml', config);
  return home;
}

async function explain(home: CliHome, ...args: readonly string[]): Promise<Answer> {
  const ran = await home.run(['access', 'explain', ...args, '--json']);
  assert.equal(ran.stderr, '');
  return JSON.parse(ran.stdout) as Answer;
}

test('L13 A9 who may talk, with the rule, its line, and what would change it', async (t) => {
  const home = await withConfig(t);
  const cases: readonly (readonly [readonly string[], string | undefined, string, number | undefined])[] = [
    [['telegram:1'], undefined, 'bot.owner', 2],
    [['telegram:42'], undefined, 'access.users', 4],
    [['telegram:7'], 'STRANGER', 'access.users', 4],
    [['telegram:50', '--chat', 'telegram:-100'], undefined, 'access.chats."telegram:-100".group_users', 7],
    [
      ['telegram:42', '--chat', 'telegram:-100'],
      'NOT_ALLOWED',
      'access.chats."telegram:-100".group_users',
      7,
    ],
    [['telegram:42', '--chat', '-200'], 'CHAT_NOT_ALLOWED', 'access.groups', 5],
    [
      ['telegram:1', '--chat', 'telegram:-100', '--unaddressed'],
      'NOT_ADDRESSED',
      'access.mention (default)',
      undefined,
    ],
    [
      ['slack:U1', '--chat', 'slack:C1', '--external'],
      'OUTSIDER',
      'slack.allow_external (default)',
      undefined,
    ],
  ];
  for (const [args, code, name, line] of cases) {
    const { talk } = await explain(home, ...args);
    assert.deepEqual([talk.code, talk.rule?.name, talk.rule?.line], [code, name, line], args.join(' '));
    assert.equal(talk.allowed, code === undefined);
    assert.equal(talk.change === undefined, talk.allowed);
  }
  assert.equal(existsSync(path.join(home.folder, 'data')), false);
  const mixed = await home.run(['access', 'explain', 'telegram:1', '--chat', 'slack:C1']);
  assert.match(mixed.stderr, /are of two channels/);
});

test('L13 A2 A4 A7 D9 who may use a skill, with the rule', async (t) => {
  const home = await withConfig(t);
  const of = async (skill: string, ...args: readonly string[]): Promise<Ruling> => {
    const { skills } = await explain(home, ...args, '--skill', skill);
    assert.equal(skills[0]?.name, skill);
    return skills[0].ruling;
  };
  assert.equal((await of('dice', 'telegram:42')).allowed, true);
  const users = await of('dice', 'telegram:1');
  assert.deepEqual([users.code, users.rule?.line], ['SKILL_NOT_AVAILABLE_HERE', 9]);
  assert.match(users.change ?? '', /add "telegram:1" there/);
  const types = await of('research', 'telegram:1', '--chat', 'telegram:-100');
  assert.deepEqual([types.rule?.name, types.rule?.line], ['skills.research.chat_types', 11]);
  const off = await of('summarize', 'telegram:1');
  assert.deepEqual([off.code, off.rule?.line], ['SKILL_DISABLED', 13]);
  const written = path.join(home.folder, 'workspace/skills/own');
  await mkdir(written, { recursive: true });
  await writeFile(
    path.join(written, 'SKILL.md'),
    '---\nname: own\ndescription: Own.\naccess:\n  chat_types: [private]\n---\nx\n',
  );
  const file = await of('own', 'telegram:1', '--chat', 'telegram:-100');
  assert.equal(file.rule?.path, path.join(written, 'SKILL.md'));
  assert.match(file.change ?? '', /config can only narrow/);
  const unknown = await home.run(['access', 'explain', 'telegram:1', '--skill', 'dise']);
  assert.match(unknown.stderr, /There is no skill "dise"\. Near: dice/);
});

test('L13 people that the store knows count, whether a bot runs or not', async (t) => {
  const home = await withConfig(t);
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  await store.keyed('people').set('paired:telegram:7', { sender: 'telegram:7', name: 'Eve', since: 1 });
  await store.keyed('people').set('group:telegram:-300', { id: 'telegram:-300', name: 'Team', since: 1 });
  await store.close();
  assert.equal((await explain(home, 'telegram:7')).talk.rule?.name, 'the store');
  assert.equal((await explain(home, 'telegram:42', '--chat', 'telegram:-300')).talk.allowed, true);
  const { stdout, code } = await home.run(['access', 'explain', 'telegram:7', '--skill', 'dice']);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^telegram:7 may talk to the bot in a direct message\.\n {2}Because: telegram:7 is paired\n {2}Rule: the store\n/,
  );
  assert.match(
    stdout,
    /may not use dice there\.\n {2}Because: SKILL_NOT_AVAILABLE_HERE: .*\n {2}Rule: skills\.dice\.allow_users \(.*config\.toml:9\)\n/,
  );
  const bot = await openRunningBot(t, home, '[access]\nusers = ["telegram:42"]\n');
  const running = await explain(home, 'telegram:7');
  assert.deepEqual([running.talk.allowed, running.talk.rule?.name], [true, 'the store']);
  const stranger = await explain(home, 'telegram:8', '--skill', 'dice');
  assert.deepEqual([stranger.talk.code, stranger.talk.rule?.line], ['STRANGER', 6]);
  assert.equal(stranger.skills[0]?.ruling.allowed, true);
  await bot.end();
});

test('L14 access test holds the config against expectations, and says what it found instead', async (t) => {
  const home = await withConfig(t);
  await home.write(
    'access.tests.toml',
    `[[test]]
who = "telegram:42"
talk = true
expect = "allow"
[[test]]
who = "telegram:7"
talk = true
expect = "deny"
code = "STRANGER"
[[test]]
who = "telegram:7"
paired = true
skill = "dice"
expect = "deny"
[[test]]
who = "telegram:42"
where = "telegram:-100"
skill = "dice"
expect = "allow"
`,
  );
  const ran = await home.run(['access', 'test']);
  assert.equal(ran.code, 1);
  assert.match(
    ran.stdout,
    /^✓ telegram:42 talks: allow\n✓ telegram:7 talks: deny STRANGER\n✓ telegram:7 uses dice: deny\n✗ telegram:42 in telegram:-100 uses dice: allow\n {2}Because: NOT_ALLOWED: /,
  );
  assert.match(ran.stdout, /3 of 4 as expected\.\n$/);
  assert.equal(existsSync(path.join(home.folder, 'data')), false);
  const checked = await home.run(['config', 'check']);
  assert.equal(checked.code, 1);
  assert.match(
    checked.stdout,
    /error ACCESS_TEST_FAILED: telegram:42 in telegram:-100 uses dice: expected allow, but /,
  );
  const bad = await home.write('other.toml', '[[test]]\nwho = "Ann"\nexpect = "maybe"\ntalk = true\n');
  const said = await home.run(['access', 'test', bad]);
  assert.match(said.stderr, /test 1, who: write a whole id/);
  assert.match(said.stderr, /test 1, expect: /);
  await home.write('broken.toml', '[[test]\n');
  assert.match((await home.run(['access', 'test', 'broken.toml'])).stderr, /broken\.toml:1:/);
  assert.match((await home.run(['access', 'test', 'none.toml'])).stderr, /can't be read \(ENOENT\)/);
});

test('L13 A13 who is in a group of the config is judged so; a user group of Slack is told as not counted', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    '[groups.finance]\nmembers = ["slack:U1", "slack:usergroup:S1"]\n[access]\ndm = "allowlist"\nusers = ["group:finance"]\n',
  );
  assert.equal((await explain(home, 'slack:U1')).talk.allowed, true);
  const other = await home.run(['access', 'explain', 'slack:U2']);
  assert.equal(other.code, 1);
  assert.match(
    other.stdout,
    /^slack:U2 may not talk[^]*\nNot counted: slack:usergroup:S1\. Only a running bot/,
  );
  const { stdout } = await home.run(['access', 'explain', 'telegram:7']);
  assert.doesNotMatch(stdout, /Not counted/);
});
