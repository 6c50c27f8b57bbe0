import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { openDetails } from '../support/open-details.ts';
import { startWholeBot, type WholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml = '[access]\ndm = "open"\n[policy]\nmoderate = "confirm"\n[bot]\nshutdown_seconds = 1\n';
/** By itself `waitFor` gives up after a second. */
const patience = { timeout: 60_000 };
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const call = (id: string, name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id, name, input }],
});

const roller: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = lastOf(body);
  if (JSON.stringify(body.system).includes('You carry out the skill')) {
    if (/TOOL_NOT_ALLOWED/.test(last)) return 'Rolled.';
    if (/tool_result/.test(last)) return call('toolu_out', 'nonsense', {});
    return call('toolu_roll', 'skills_run_script', { path: 'scripts/roll.sh', args: ['1d1'] });
  }
  return /Rolled/.test(last)
    ? 'It was rolled.'
    : call('toolu_use', 'use_skill', { skill: 'dice', message: 'Roll 1d1.' });
};

async function eventsOf({ bot }: WholeBot): Promise<readonly Record<string, unknown>[]> {
  const lines = await bot.operate('audit tail', { lines: 100 });
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('L6 T8 a call, who agreed to it, its run and what was out of bounds stand in the audit, which is whole', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml,
    script: roller,
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('roll');
  const question = await ann.dm.nextMessage(/wants to use/);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('It was rolled.');
  await set.bot.idle();
  const events = await eventsOf(set);
  const sender = `telegram:${ann.id}`;
  assert.deepEqual(
    events.map(({ event, tool, outcome, policy, status, codes }) => [
      event,
      tool ?? status,
      outcome ?? policy ?? codes,
    ]),
    [
      ['approval', 'skills_run_script', 'approved'],
      ['tool_call', 'skills_run_script', 'approved'],
      ['tool_call_blocked', 'nonsense', ['TOOL_NOT_ALLOWED']],
      ['run', 'ok', undefined],
      ['tool_call', 'use_skill', 'allowed'],
    ],
  );
  const rolled = events[1]!;
  assert.deepEqual([rolled['approvedBy'], rolled['sender'], rolled['skill']], [sender, sender, 'dice']);
  assert.match(String(rolled['argumentsHash']), /^[0-9a-f]{64}$/);
  assert.equal(rolled['arguments'], undefined);
  const report = await set.bot.operate('audit verify');
  assert.deepEqual(report.problems, []);
});

test('L6 refusals, changes of config and skills, and with [audit] arguments the redacted arguments', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}[access.telegram]\ngroups_mode = "open"\ngroup_users = ["*"]\n[audit]\narguments = true\n`,
    script: roller,
    skills: { extra: '---\nname: extra\ndescription: More.\n---\nMore.\n' },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  const group = set.telegram.group();
  ann.says('@test_bot roll', { in: group });
  const question = await openDetails(ann, await group.nextMessage(/needs a yes to use/), group);
  ann.pressesAlone(question.id, 'Deny', group);
  await group.nextMessage();
  await set.skill('newer', '---\nname: newer\ndescription: New.\n---\nNew.\n');
  await set.reconfigure(`${toml}[access.telegram]\ndm = "allowlist"\n`);
  const logged = (what: RegExp): number =>
    set.log.lines.filter((line) => what.test(JSON.stringify(line))).length;
  await t.waitFor(
    () =>
      assert.ok(set.bot.names().includes('newer') && logged(/the config was changed/) > 0, 'not read yet'),
    patience,
  );
  ann.says('again');
  ann.says('and again');
  await t.waitFor(() => assert.equal(logged(/not admitted/), 2), patience);
  const events = await eventsOf(set);
  const byName = (name: string) => events.filter(({ event }) => event === name);
  assert.deepEqual(
    byName('approval').map(({ outcome }) => outcome),
    ['denied'],
  );
  const denied = byName('tool_call').find(({ tool }) => tool === 'skills_run_script');
  assert.equal(denied?.['policy'], 'TOOL_POLICY_DENIED');
  assert.match(String(denied?.['arguments']), /scripts\/roll\.sh/);
  assert.deepEqual(byName('skills_changed').at(-1)?.['added'], ['newer']);
  assert.match(JSON.stringify(byName('config_changed').at(-1)?.['keys']), /access/);
  assert.equal(byName('message_refused').length, 1, 'once an hour for each sender');
});
