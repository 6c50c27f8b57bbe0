import assert from 'node:assert/strict';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createAudit } from '../../src/audit/create-audit.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Compared } from '../../src/operator/rehearse/compare-judgements.ts';
import { openStore } from '../../src/store/open-store.ts';
import { busyConfig, plantWeek } from '../support/busy-week.ts';
import { root } from '../support/documents.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startWholeBot } from '../support/whole-bot.ts';

/** A folder in which a bot had a week of 60 messages. */
async function stage(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await home.write('config.toml', busyConfig);
  await plantWeek(home.folder, { messages: 60, people: 6, groups: 2 });
  return home;
}

async function rehearse(home: CliHome, toml: string, ...more: readonly string[]) {
  await home.write('new.toml', toml);
  const { code, stdout, stderr } = await home.run(['rehearse', '--config', 'new.toml', '--json', ...more]);
  assert.equal(stderr, '');
  return { code, ...(JSON.parse(stdout) as Compared) };
}

test('L20 the same config decides all as before, and the exit code is 0', async (t) => {
  const { code, judged, differences, skills, usd, notJudged } = await rehearse(await stage(t), busyConfig);
  assert.deepEqual({ code, differences, skills }, { code: 0, differences: [], skills: [] });
  assert.deepEqual(judged, { message: 60, skill: 6, call: 60, press: 6 });
  assert.deepEqual(usd, { before: 1.5, after: 1.5, unpriced: 0 });
  assert.deepEqual(notJudged, {});
});

const changes: readonly (readonly [what: string, from: RegExp, to: string, expected: readonly RegExp[]])[] = [
  [
    'who may talk',
    /^dm = "open"/m,
    'dm = "allowlist"\nusers = ["telegram:2"]',
    [
      /^messages refused NOT_ALLOWED telegram:\d is not in \[access\] users by access\.users \(.*new\.toml:5\)$/,
    ],
  ],
  [
    'what is asked about',
    /^\[policy\]/m,
    '[policy]\nmoderate = "confirm"',
    [
      /^skills_run_script ask {2}moderate call of skills_run_script: confirm by policy\.moderate \(.*new\.toml:8\)$/,
    ],
  ],
  [
    'a rule of the policy',
    /$/,
    '\n[[policy.rules]]\ntool = "rec*"\nchat = "telegram:-100"\naction = "deny"\n',
    [/^recall refused {2}safe call of recall: deny by policy\.rules\[0\] \(.*new\.toml:\d+\)$/],
  ],
  [
    'a skill',
    /$/,
    '\n[skills.dice]\nchat_types = ["private"]\n',
    [
      /^dice refused SKILL_NOT_AVAILABLE_HERE dice is for private chats; this one is group by skills\.dice\.chat_types/,
      /^skills_run_script refused SKILL_NOT_AVAILABLE_HERE/,
    ],
  ],
  [
    'who may approve',
    /^approvers = .*/m,
    'approvers = ["telegram:2"]',
    [
      /^press refused NOT_AN_APPROVER Only the person who asked for this or an approver can answer\. by policy\.approvers/,
    ],
  ],
  [
    'tools of the main agent',
    /^\[policy\]/m,
    '[agent]\ntools = ["use_skill"]\n[policy]',
    [/^recall refused TOOL_NOT_ALLOWED the main agent has no recall by agent\.tools \(.*new\.toml:8\)$/],
  ],
];
for (const [what, from, to, expected] of changes)
  test(`L20 a new config that changes ${what} says what it would decide otherwise, with the rule and its line`, async (t) => {
    const { code, differences } = await rehearse(await stage(t), busyConfig.replace(from, to));
    assert.equal(code, 3);
    const lines = differences.map(({ now, code: why = '', reason, rule, first }) => {
      const of = first.kind === 'call' ? first.tool : first.kind === 'skill' ? first.skill : first.kind;
      return `${of === 'message' ? 'messages' : of} ${now} ${why} ${reason} by ${rule}`;
    });
    for (const one of expected)
      assert.ok(
        lines.some((line) => one.test(line)),
        `${String(one)}\n${lines.join('\n')}`,
      );
  });

test('L20 other skills and other prices are told of, and prices alone are no difference', async (t) => {
  const home = await stage(t);
  const off = await rehearse(home, `${busyConfig}\n[skills.dice]\nenabled = false\n`);
  assert.ok(off.skills.length >= 6);
  assert.deepEqual([...new Set(off.skills.flatMap(({ fewer }) => fewer))], ['dice']);
  const dearer = await rehearse(home, busyConfig.replace('price_out = 5', 'price_out = 25'));
  assert.deepEqual([dearer.code, dearer.usd], [0, { before: 1.5, after: 3.5, unpriced: 0 }]);
});

test('L20 what is not in the record is counted, and nothing of it is words', async (t) => {
  const home = await stage(t);
  const dataDir = path.join(home.folder, 'data');
  const store = await openStore(`sqlite:${path.join(dataDir, 'skillet.db')}`);
  const audit = createAudit({ dataDir, keyed: store.keyed, clock: systemClock, log: quietLog() });
  await audit.forget(['telegram:2']);
  await store.commit({
    entries: [
      {
        transcript: 'slack:C1',
        entry: { kind: 'user', item: 'x', sender: 'slack:U1', content: 'top secret', at: Date.now() - 5_000 },
      },
    ],
  });
  await audit.record({
    ...{
      event: 'tool_call',
      sender: 'telegram:1',
      conversation: 'telegram:1',
      chatType: 'private',
      tool: 'gone',
    },
    ...{ ok: false, codes: ['TOOL_NOT_FOUND'], durationMs: 1, call: 'c', argumentsHash: '0' },
  });
  await store.close();
  const { notJudged } = await rehearse(home, busyConfig);
  assert.equal(notJudged['messages in chats whose type the record does not have'], 1);
  assert.equal(notJudged['calls of tools that did not exist'], 1);
  assert.ok((notJudged['entries of people or chats that were forgotten'] ?? 0) >= 9);
  const { stdout } = await home.run(['rehearse', '--config', 'new.toml']);
  assert.match(stdout, /Not judged: 1 calls of tools that did not exist\./);
  assert.ok(!/Question|top secret/.test(stdout));
});

test('L20 pairings and groups that owners allowed count beside the new config', async (t) => {
  const home = await stage(t);
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  for (const n of [2, 3, 4, 5, 6])
    await store.keyed('people').set(`paired:telegram:${n}`, { sender: `telegram:${n}`, name: 'x', since: 1 });
  await store.close();
  const closed = busyConfig.replace('dm = "open"', 'dm = "pairing"');
  const { differences } = await rehearse(home, closed);
  // Only those who were refused then are strangers still.
  assert.ok(
    differences.every(({ first }) => first.kind === 'message' && first.who.sender.startsWith('telegram:9')),
  );
});

test('L20 another checkout judges the same record by its own code', async (t) => {
  const home = await stage(t);
  const next = path.join(home.folder, 'next');
  await mkdir(next);
  for (const part of ['bin', 'src', 'skills', 'package.json', 'config.example.toml'])
    await cp(path.join(root, part), path.join(next, part), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(next, 'node_modules'));
  const same = await rehearse(home, busyConfig, '--version', next);
  assert.deepEqual([same.code, same.differences], [0, []]);
  const policy = path.join(next, 'src/tools/policy.ts');
  const text = await readFile(policy, 'utf8');
  await writeFile(
    policy,
    text.replace(`action: of.marked && action === 'allow'`, `action: action === 'allow'`),
  );
  const { code, differences } = await rehearse(home, busyConfig, '--version', next);
  assert.equal(code, 3);
  assert.deepEqual([...new Set(differences.map(({ first, now }) => `${first.kind} ${now}`))], ['call ask']);
  const wrong = await home.run(['rehearse', '--version', home.folder]);
  assert.deepEqual([wrong.code, /name the folder of a checkout/.test(wrong.stderr)], [1, true]);
});

test('L20 what a real bot decided is what a rehearsal by the same config decides', async (t) => {
  const toml = '[bot]\nowner = ["telegram:1"]\n[access]\nusers = ["telegram:1"]\ngroups_mode = "open"\n';
  const { bot, telegram } = await startWholeBot(t, { toml, script: () => 'Here you are.', strangers: true });
  const [ann, eve] = [telegram.person({ name: 'Ann', id: 1 }), telegram.person({ name: 'Eve', id: 2 })];
  ann.says('hello');
  await ann.dm.nextMessage('Here you are');
  eve.says('hello');
  await eve.dm.nextMessage();
  ann.says('/dice 2d6');
  await ann.dm.nextMessage();
  const record = (await bot.operate('rehearse', new Date(Date.now() - 60_000).toISOString())) as {
    cases: readonly { kind: string; who: { sender: string; chatType: string }; was: string }[];
  };
  const messages = record.cases.flatMap(({ kind, who, was }) =>
    kind === 'message' ? [`${who.sender} ${who.chatType} ${was}`] : [],
  );
  assert.ok(messages.includes('telegram:1 private answered'), messages.join('\n'));
  assert.ok(
    messages.some((one) => /^telegram:2 private (?!answered)/.test(one)),
    messages.join('\n'),
  );
});

test('L20 a rehearsal writes nothing and says what is wrong with a new config', async (t) => {
  const home = await openCliHome(t);
  await home.write('new.toml', '[acess]\n');
  const { code, stderr } = await home.run(['rehearse', '--config', 'new.toml']);
  assert.deepEqual([code, /acess/.test(stderr)], [1, true]);
  const soon = await home.run(['rehearse', '--since', 'soon']);
  assert.deepEqual([soon.code, /--since soon: write how long ago/.test(soon.stderr)], [1, true]);
});
