import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { createJudgeCalls } from '../../src/runs/judge-calls.ts';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import type { Approval } from '../../src/core/approval.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { succeed } from '../../src/core/envelope.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Taint } from '../../src/core/entry.ts';
import type { Skill } from '../../src/core/skill.ts';
import { defineTool, readOnly, type Requester, type Risk, type Tool } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import { noHandOver } from '../support/no-files.ts';
import { makeSkill } from '../support/make-skill.ts';
import { toolContext } from '../support/tool-context.ts';
import { partOf } from '../support/app-of.ts';

const { requester } = toolContext();
const conversation = 'telegram:42';
const outerRun = `${conversation}#run:${'0'.repeat(16)}`;
const innerRun = `${outerRun}#run:${'1'.repeat(16)}`;
/** A tool of an MCP server has a hash of its definition, as others may change what it does. */
const tool = (name: string, requiresNetwork: boolean): Tool => ({
  definitionHash: name === 'mcp_files_read' ? 'files.one' : undefined,
  ...defineTool({
    row: allTools().row(name),
    name,
    description: name,
    input: z.object({}),
    traits: { ...readOnly, requiresNetwork },
    async run() {
      return succeed('');
    },
  }),
});

/** Everything is allowed by config and by "Always". `marked`: entries of each transcript by how they are marked. */
async function setUp(
  marked: Readonly<Record<string, readonly (Taint | undefined)[]>>,
  answer: () => Approval = () => ({ kind: 'denied' }),
  config = '[policy]\ndangerous = "allow"\ncritical = "allow"\n[[policy.rules]]\ntool = "*"\naction = "allow"\n',
) {
  const store = await openStore('sqlite::memory:');
  const said = { kind: 'user', sender: requester.sender, content: 'x', at: 1 } as const;
  for (const [transcript, marks] of Object.entries(marked)) {
    const entries = marks.map((mark) => (mark === undefined ? said : { ...said, taint: mark }));
    await store.commit({ entries: entries.map((entry) => ({ transcript, entry })) });
  }
  const parsed = parseConfig(config, { env: {} });
  assert.ok(parsed.ok);
  const asked: ApprovalRequest[] = [];
  const now = { config: parsed.config };
  const access: { taken?: true; removed?: true; closed?: true } = {};
  const judge = createJudgeCalls({
    runtime: () =>
      ({
        config: now.config,
        rules: { enabled: true, defaults: {}, skills: new Map() },
      }) as unknown as RuntimeConfig,
    ask: {
      request: async (call: ApprovalRequest) => {
        asked.push(call);
        return answer();
      },
      covers: async () => config.includes('rules'),
    },
    deliverArtifacts: noHandOver,
    whose: async () => ({ words: 'typed' }),
    outside: partOf({
      mayCall: async () =>
        access.closed === undefined
          ? { allowed: true }
          : { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'not for them' },
    }),
    stillAdmitted: async () =>
      access.removed === undefined
        ? { allowed: true }
        : { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'removed' },
    store,
    clock: systemClock,
  });
  const says = (
    called: Tool,
    skill?: Skill,
    transcript = skill === undefined ? conversation : outerRun,
    assessment: Readonly<{
      taint?: Taint;
      outward?: boolean;
      shown?: unknown;
      risk?: Risk;
      requester?: Requester;
    }> = {},
  ) => {
    const loop = judge({
      ...(skill === undefined ? {} : { skill, run: 'x' }),
      transcript,
      mayGoOn: async () =>
        access.taken === undefined
          ? { allowed: true }
          : { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'taken away' },
      waiting: (work) => work(),
    });
    const call = { id: 'call_1', tool: called, input: {}, risk: 'safe' as Risk, requester, ...assessment };
    return loop(call, new AbortController().signal);
  };
  return {
    asked,
    now,
    access,
    store,
    says,
    async decides(...call: Parameters<typeof says>): Promise<'allowed' | 'asked'> {
      const before = asked.length;
      const { allowed } = await says(...call);
      assert.equal(allowed, asked.length === before);
      return allowed ? 'allowed' : 'asked';
    },
    close: () => store.close(),
  };
}

test('S7 what reaches outside is asked for in a marked conversation whatever allows it: web, bash with network, MCP, plugins', async () => {
  const outward = ['web_fetch', 'web_search', 'bash', 'mcp_files_read', 'weather', 'skills_run_script'];
  const marked = await setUp({ [conversation]: [true] });
  const unmarked = await setUp({ [conversation]: [undefined] });
  for (const name of outward) {
    assert.equal(await unmarked.decides(tool(name, true)), 'allowed', name);
    assert.equal(await marked.decides(tool(name, true)), 'asked', name);
  }
  // A server of one's own that says it is not open to the world is a server still.
  assert.equal(await marked.decides(tool('mcp_files_read', false)), 'asked');
  for (const name of ['bash', 'read_file', 'capability_invoke', 'skills_list'])
    assert.equal(await marked.decides(tool(name, false)), 'allowed', name);
  for (const { standing, because } of marked.asked) {
    assert.equal(standing, undefined, 'Always is offered');
    assert.match(because ?? '', /reaches outside/);
  }
  await Promise.all([marked.close(), unmarked.close()]);
});

const script = tool('skills_run_script', true);
const open = makeSkill('weather');
const mail = makeSkill('mail', { access: { ...open.access, sensitive: true } });

test('S7 the script of a sensitive skill reaches its own hosts in its own run; any other call there is asked for', async () => {
  const { decides, close } = await setUp({ [outerRun]: ['mail', undefined] });
  assert.equal(await decides(script, mail), 'allowed');
  assert.equal(await decides(script, open), 'asked');
  assert.equal(await decides(tool('bash', true), mail), 'asked');
  assert.equal(await decides(tool('web_fetch', true), mail), 'asked');
  assert.equal(await decides(script, makeSkill('mail')), 'asked', 'it is sensitive no more');
  await close();
});

test('S7 what the same skill gave before is its own; where anything else is known, its script is asked for', async () => {
  const cases = [
    [{ [outerRun]: ['mail', 'mail'], [conversation]: ['mail'] }, 'allowed'],
    [{ [outerRun]: ['mail', 'diary'] }, 'asked'],
    // Of a capability.
    [{ [outerRun]: ['mail', true] }, 'asked'],
    [{ [outerRun]: [true, undefined] }, 'asked'],
    // Since it began: the folder of the conversation is one.
    [{ [outerRun]: ['mail'], [conversation]: ['diary'] }, 'asked'],
    [{ [innerRun]: ['mail'], [outerRun]: [undefined], [conversation]: ['mail'] }, 'allowed'],
    [{ [innerRun]: ['mail'], [outerRun]: ['diary'], [conversation]: ['mail'] }, 'asked'],
  ] as const;
  for (const [marked, decision] of cases) {
    const { decides, close } = await setUp(marked);
    const transcript = innerRun in marked ? innerRun : outerRun;
    assert.equal(await decides(script, mail, transcript), decision, JSON.stringify(marked));
    await close();
  }
});

const inFiles = (name: string, requiresNetwork: boolean, sideEffects: boolean): Tool => {
  const made = tool(name, requiresNetwork);
  return { ...made, traits: { ...made.traits, requiresFilesystem: true, sideEffects } };
};
const fetches = tool('web_fetch', true);
const writes = inFiles('write_file', false, true);
const reads = inFiles('read_file', false, false);

test('S7 a conversation is marked when a sensitive run or a capability begins, before anything comes back', async () => {
  for (const taint of ['diary', true] as const) {
    const { decides, close } = await setUp({});
    assert.equal(await decides(fetches), 'allowed');
    assert.equal(await decides(tool('use_skill', false), undefined, conversation, { taint }), 'allowed');
    assert.equal(await decides(fetches), 'asked');
    assert.equal(await decides(fetches, open, outerRun), 'asked', 'a run beside it');
    assert.equal(await decides(fetches, undefined, `${conversation}@new`), 'allowed', '/new');
    await close();
  }
  const { decides, close } = await setUp({ [innerRun]: [undefined] });
  const lists = tool('capability_list', false);
  assert.equal(await decides(lists, open, innerRun, { taint: 'weather' }), 'allowed');
  assert.equal(await decides(fetches), 'asked', 'begun in a run inside a run');
  await close();
});

test('S7 the folder of a conversation stays marked: who reads in it after /new is asked, who leaves it alone is not', async () => {
  const fresh = `${conversation}@new`;
  const { decides, close } = await setUp({ [conversation]: [true] });
  assert.equal(
    await decides(inFiles('bash', true, true), undefined, fresh),
    'allowed',
    'nothing was written',
  );
  assert.equal(await decides(reads), 'allowed');
  assert.equal(await decides(reads, undefined, fresh), 'allowed');
  assert.equal(await decides(fetches, undefined, fresh), 'allowed', 'reading writes nothing');
  assert.equal(await decides(writes), 'allowed');
  assert.equal(await decides(fetches, undefined, fresh), 'allowed');
  assert.equal(await decides(inFiles('bash', true, true), undefined, fresh), 'asked');
  assert.equal(await decides(reads, undefined, fresh), 'allowed');
  assert.equal(await decides(fetches, undefined, fresh), 'asked');
  assert.equal(await decides(fetches, undefined, 'telegram:420'), 'allowed', 'another conversation');
  await close();
});

test('S7 a capability of another skill is asked for, also to read; a skill goes on with what its own accounts gave', async () => {
  const invokes = tool('capability_invoke', false);
  const cases = [
    [{}, mail, 'allowed'],
    [{ [outerRun]: ['mail'], [conversation]: ['mail'] }, mail, 'allowed'],
    [{ [outerRun]: ['weather'] }, open, 'allowed'],
    [{ [conversation]: ['diary'] }, mail, 'asked'],
    [{ [outerRun]: ['mail'], [conversation]: ['diary'] }, mail, 'asked'],
    [{ [outerRun]: [true] }, mail, 'asked'],
  ] as const;
  for (const [marked, skill, decision] of cases) {
    const { decides, close } = await setUp(marked);
    const assessment = { taint: skill.name, outward: true };
    assert.equal(
      await decides(invokes, skill, outerRun, { taint: skill.name }),
      'allowed',
      'nothing is sent',
    );
    await close();
    const again = await setUp(marked);
    assert.equal(await again.decides(invokes, skill, outerRun, assessment), decision, JSON.stringify(marked));
    if (decision === 'allowed')
      assert.equal(await again.decides(invokes, skill, outerRun, assessment), 'allowed');
    await again.close();
  }
});

test('T8 "Always" is offered for a script, not for bash: a yes to one command says nothing of the next', async (t) => {
  const asking = '[policy]\nsafe = "confirm"\n';
  const { says, asked, close } = await setUp({}, () => ({ kind: 'denied' }), asking);
  t.after(close);
  for (const name of ['bash', 'skills_run_script']) await says(tool(name, false), open);
  assert.deepEqual(
    asked.map(({ standing }) => standing?.tool),
    [undefined, 'skills_run_script'],
  );
});

test('T8 a yes is for the files of the skill as they were when it was asked', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'skillet-judged-'));
  t.after(() => rm(directory, { recursive: true }));
  await writeFile(path.join(directory, 'SKILL.md'), 'one');
  const skill = makeSkill('weather', { directory });
  let meanwhile = (): void => undefined;
  const { says, close } = await setUp({ [outerRun]: [true] }, () => {
    meanwhile();
    return { kind: 'approved', by: requester.sender };
  });
  t.after(close);
  const call = tool('web_fetch', true);
  assert.deepEqual(await says(call, skill), { allowed: true, approvedBy: requester.sender });
  meanwhile = () => writeFileSync(path.join(directory, 'SKILL.md'), 'two');
  const refused = await says(call, skill);
  assert.ok('reason' in refused);
  assert.match(refused.reason, /files of the skill changed/);
});

test('S16 a yes is for the files that the call reads as they were: changed meanwhile, it is asked again, and says why', async (t) => {
  const read = ['one', 'two', 'two', 'two'];
  const { says, asked, close } = await setUp({ [outerRun]: [true] }, () => ({
    kind: 'approved',
    by: requester.sender,
  }));
  t.after(close);
  const call: Tool = { ...tool('bash', true), reads: async () => read.shift() };
  assert.deepEqual(await says(call, open), { allowed: true, approvedBy: requester.sender });
  assert.deepEqual(
    asked.map(({ reads }) => reads),
    ['one', 'two'],
  );
  assert.match(asked[0]?.because ?? '', /reaches outside/);
  assert.equal(asked[1]?.because, 'A file that this call reads changed after you were asked.');
});

test('S16 a call whose files change after each yes is not run', async (t) => {
  let count = 0;
  const { says, asked, close } = await setUp({ [outerRun]: [true] }, () => ({
    kind: 'approved',
    by: requester.sender,
  }));
  t.after(close);
  const refused = await says({ ...tool('bash', true), reads: async () => `${count++}` }, open);
  assert.match('reason' in refused ? refused.reason : '', /changed after each question/);
  assert.equal(asked.length, 5);
});

test('T8 D7 access is judged before a person is asked, and again after the yes', async (t) => {
  let meanwhile = (): void => undefined;
  const { says, access, asked, close } = await setUp({ [outerRun]: [true] }, () => {
    meanwhile();
    return { kind: 'approved', by: requester.sender };
  });
  t.after(close);
  meanwhile = () => void (access.taken = true);
  const taken = { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'taken away' };
  assert.deepEqual(await says(tool('web_fetch', true), open), taken);
  assert.deepEqual(await says(tool('web_fetch', true), open), taken);
  assert.equal(asked.length, 1, 'nobody is asked for what may not be done anyway');
});

test('S11 a removed person’s calls are refused, one that was approved too, and made again once they are back', async (t) => {
  let meanwhile = (): void => undefined;
  const { says, access, close } = await setUp({ [outerRun]: [true] }, () => {
    meanwhile();
    return { kind: 'approved', by: requester.sender };
  });
  t.after(close);
  meanwhile = () => void (access.removed = true);
  const removed = { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'removed' };
  assert.deepEqual(await says(tool('web_fetch', true), open), removed);
  assert.deepEqual(await says(tool('read_file', false), open), removed);
  assert.deepEqual(await says(tool('read_file', false)), removed);
  delete access.removed;
  assert.deepEqual(await says(tool('read_file', false), open), { allowed: true });
});

test('X1 X7 T8 a tool of a plugin or server is judged for its requester, before a person is asked and after', async (t) => {
  let meanwhile = (): void => undefined;
  const { says, access, asked, close } = await setUp({ [outerRun]: [true] }, () => {
    meanwhile();
    return { kind: 'approved', by: requester.sender };
  });
  t.after(close);
  meanwhile = () => void (access.closed = true);
  const closed = { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'not for them' };
  assert.deepEqual(await says(tool('mcp_files_read', true), open), closed);
  assert.deepEqual(await says(tool('mcp_files_read', true), open), closed);
  assert.equal(asked.length, 1);
});

test('C5 a change behind a capability is asked for each time, with what is sent, whatever policy and "Always" say', async (t) => {
  const { decides, asked, close } = await setUp(
    {},
    () => ({ kind: 'denied' }),
    '[policy]\nsafe = "allow" # and rules of "Always"\n',
  );
  t.after(close);
  const shown = { capability: 'notes.book', operation: 'add', account: 'ann', input: { text: 'x' } };
  for (const count of [1, 2]) {
    assert.equal(await decides(tool('capability_invoke', false), open, outerRun, { shown }), 'asked');
    assert.equal(asked.length, count);
    assert.deepEqual(asked.at(-1)?.input, shown);
    assert.equal(asked.at(-1)?.standing, undefined, 'Always is offered');
  }
});

test('T8 what policy denies is refused, and nobody is asked', async (t) => {
  const { says, asked, close } = await setUp(
    {},
    () => ({ kind: 'approved', by: requester.sender }),
    '[policy]\nsafe = "deny"\n',
  );
  t.after(close);
  const decision = await says(tool('read_file', false), open);
  assert.match(
    decision.allowed || !('reason' in decision) ? '' : decision.reason,
    /policy denies safe calls/,
  );
  assert.deepEqual(asked, []);
});

test('S7 an address that the person wrote may be fetched from a marked conversation, and no other', async (t) => {
  const { decides, store, close } = await setUp({ [conversation]: [true] });
  t.after(close);
  const write = (sender: string, url: string) =>
    store.commit({
      entries: [
        { transcript: conversation, entry: { kind: 'user', sender, content: 'x', urls: [url], at: 2 } },
      ],
    });
  await write(requester.sender, 'https://ann.example/');
  await write('telegram:7', 'https://ben.example/');
  const fetching = (address: string): Tool => ({ ...tool('web_fetch', true), goesTo: () => address });
  assert.equal(await decides(fetching('https://ann.example/')), 'allowed');
  assert.equal(await decides(fetching('https://ann.example/?q=secret')), 'asked');
  assert.equal(await decides(fetching('https://ben.example/')), 'asked', 'somebody else wrote it');
});

const otherYes = (toml: string) => {
  const parsed = parseConfig(`[policy]\napprovers = ["${requester.sender}", "telegram:9"]\n${toml}`, {
    env: {},
  });
  assert.ok(parsed.ok);
  return parsed.config;
};
const fourEyes = '[[policy.rules]]\ntool = "deploy"\naction = "confirm"\nfour_eyes = true\n';
const inGroup = {
  ...requester,
  chatType: 'group',
  conversation: { channel: 'telegram', chat: '-7' },
} as const;

test('T8 a yes of the person who asked does not count if four_eyes came between question and call', async () => {
  for (const by of [requester.sender, 'telegram:9']) {
    const set = await setUp(
      {},
      (): Approval => {
        set.now.config = otherYes(fourEyes);
        return { kind: 'approved', by };
      },
      '',
    );
    set.now.config = otherYes('dangerous = "confirm"\n');
    const said = await set.says(tool('deploy', true), undefined, conversation, { risk: 'dangerous' });
    assert.equal(said.allowed, by === 'telegram:9', by);
    await set.close();
  }
});

test('T8 four_eyes names the other approvers, offers no Always, and asks nobody where the requester is unknown', async () => {
  const set = await setUp({}, () => ({ kind: 'approved', by: 'telegram:9' }));
  set.now.config = otherYes(fourEyes);
  const deploy = tool('deploy', true);
  const said = await set.says(deploy, undefined, conversation, { requester: inGroup });
  assert.equal(said.allowed, true);
  assert.deepEqual(set.asked[0]?.others, ['telegram:9']);
  assert.equal(set.asked[0].standing, undefined);
  const anonymous = { ...inGroup, kind: 'chat', sender: 'telegram:-7' } as const;
  const refused = await set.says(deploy, undefined, conversation, { requester: anonymous });
  assert.ok('code' in refused && refused.code === 'TOOL_CONFIRMATION_REQUIRED');
  assert.equal(set.asked.length, 1, 'nobody was asked');
  await set.close();
});
