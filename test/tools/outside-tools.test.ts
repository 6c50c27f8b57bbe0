import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import { z } from 'zod';
import { createJudgeCalls } from '../../src/runs/judge-calls.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';
import { createOutsideTools } from '../../src/tools/outside-tools.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { succeed } from '../../src/core/envelope.ts';
import {
  defineTool,
  readOnly,
  type OutsideAccess,
  type OutsideTool,
  type Requester,
  type Tool,
} from '../../src/core/tool.ts';
import { noHandOver } from '../support/no-files.ts';
import { quietLog } from '../support/quiet-log.ts';
import { inAGroup, toolContext } from '../support/tool-context.ts';
import { partOf } from '../support/app-of.ts';
import type { Transcripts } from '../../src/store/store.ts';

const { requester: inPrivate } = toolContext();
const everybody: OutsideAccess = { chatTypes: ['private', 'group', 'channel'], users: 'everybody' };

function outsideTool(name: string, change: Partial<OutsideTool> = {}): OutsideTool {
  const run = async () => succeed('done');
  const tool = defineTool({ name, description: 'Does.', input: z.object({}), traits: readOnly, run });
  return { tool, from: 'plugin one', main: true, access: everybody, ...change };
}

function setUp(...brought: readonly (readonly OutsideTool[])[]) {
  const now = { brought, owners: ['telegram:42'] };
  const log = quietLog();
  const outside = createOutsideTools({
    builtInTools: allTools(),
    sources: brought.map((_, index) => () => now.brought[index] ?? []),
    isOwner: async (sender) => now.owners.includes(sender),
    accessOf: async ({ chatType, external, sender }) => ({
      chatType,
      chatIds: [],
      external,
      sender: sender.id,
      by: 'person',
    }),
    log,
  });
  const offered = async (requester: Requester, to: 'main' | 'run' = 'run'): Promise<readonly string[]> =>
    (await outside.offered(requester, to)).map(({ name }) => name);
  return { ...outside, names: outside.names, offered, give: outside.offered, now, log };
}

test('X7 a tool is offered only to those its rules name, where they name it; an unknown chat is none', async () => {
  const { offered, now } = setUp([
    outsideTool('for_owners', { access: { chatTypes: ['private'], users: 'owners' } }),
    outsideTool('for_bob', { access: { chatTypes: ['private', 'group'], users: ['telegram:7'] } }),
    outsideTool('for_nobody', { access: { chatTypes: ['private'], users: [] } }),
    outsideTool('nowhere', { access: { chatTypes: [], users: 'everybody' } }),
    outsideTool('for_all'),
  ]);
  assert.deepEqual(await offered(inPrivate), ['for_all', 'for_owners']);
  assert.deepEqual(await offered(inAGroup), ['for_all']);
  assert.deepEqual(await offered({ ...inAGroup, sender: 'telegram:7' }), ['for_all', 'for_bob']);
  assert.deepEqual(await offered({ ...inPrivate, chatType: 'unknown' }), []);
  now.owners = [];
  assert.deepEqual(await offered(inPrivate), ['for_all'], 'who owns the bot is asked each time');
});

test('X1 main = false withholds a tool from the main agent, not from runs; the order is by name', async () => {
  const { offered } = setUp([outsideTool('b', { main: false }), outsideTool('c')], [outsideTool('a')]);
  assert.deepEqual(await offered(inPrivate, 'run'), ['a', 'b', 'c']);
  assert.deepEqual(await offered(inPrivate, 'main'), ['a', 'c']);
});

test('X1 X6 all outside tools are listed by name for whom it may concern, of two with one name the first', async () => {
  const first = outsideTool('notes_add');
  const { all, names, offered } = setUp(
    [outsideTool('z', { main: false, access: { chatTypes: [], users: [] } }), first, outsideTool('bash')],
    [outsideTool('notes_add', { from: 'mcp notes' }), outsideTool('a')],
  );
  assert.deepEqual(
    all().map(({ name }) => name),
    ['a', 'notes_add', 'z'],
  );
  assert.equal(all()[1], first.tool);
  assert.deepEqual([...names()].sort(), ['a', 'notes_add', 'z']);
  const { all: none, names: noNames } = setUp();
  assert.deepEqual([none(), noNames()], [[], []]);
  assert.deepEqual(await offered({ ...inAGroup, external: true }), ['a', 'notes_add'], 'none is sensitive');
});

test('X6 of two tools with one name the second is refused and both are named, once', async () => {
  const { offered, give, log } = setUp(
    [outsideTool('bash'), outsideTool('notes_add')],
    [outsideTool('notes_add', { from: 'mcp notes' })],
  );
  assert.deepEqual(await offered(inPrivate), ['notes_add']);
  await give(inPrivate, 'main');
  const told = log.lines.map(({ message }) => message);
  assert.deepEqual(told, [
    'this bot and plugin one both bring a tool bash',
    'plugin one and mcp notes both bring a tool notes_add',
  ]);
  assert.deepEqual(log.lines[1]?.fields, { tool: 'notes_add', of: 'plugin one', refused: 'mcp notes' });
});

test('X7 T8 access is judged again at the call and after an approval: a rule that was tightened holds at once', async () => {
  const open = outsideTool('notes_add');
  const shut = { ...open, access: { ...everybody, users: ['telegram:7'] } };
  const { give, mayCall, now } = setUp([open]);
  const parsed = parseConfig('[policy]\nsafe = "confirm"\n', { env: {} });
  assert.ok(parsed.ok);
  let meanwhile = (): void => undefined;
  const judge = createJudgeCalls({
    runtime: () => ({ config: parsed.config }) as RuntimeConfig,
    ask: {
      request: async () => {
        meanwhile();
        return { kind: 'approved', by: 'telegram:42' };
      },
      covers: async () => false,
    },
    deliverArtifacts: noHandOver,
    whose: async () => ({ words: 'typed' }),
    outside: partOf({ mayCall }),
    stillAdmitted: async () => ({ allowed: true }),
    store: partOf({
      transcripts: partOf<Transcripts>({ read: async () => ({ entries: [], damaged: 0 }) }),
      commit: async () => assert.fail('nothing is noted'),
    }),
    clock: systemClock,
  })({
    transcript: 'telegram:42',
    mayGoOn: async () => ({ allowed: true }),
    waiting: (work) => work(),
  });
  const [tool] = await give(inPrivate, 'main');
  const decide = async (called: Tool | undefined): Promise<string> => {
    assert.ok(called);
    const call = { id: 'call_1', tool: called, input: {}, risk: 'safe', requester: inPrivate } as const;
    const decision = await judge(call, new AbortController().signal);
    return decision.allowed ? 'allowed' : 'code' in decision ? decision.code : 'instead';
  };
  assert.equal(await decide(tool), 'allowed');
  meanwhile = () => (now.brought = [[shut]]);
  assert.equal(await decide(tool), 'TOOL_POLICY_DENIED', 'tightened while a person was asked');
  meanwhile = () => undefined;
  assert.equal(await decide(tool), 'TOOL_POLICY_DENIED', 'tightened before the call');
  now.brought = [[open]];
  assert.equal(await decide(tool), 'allowed');
  now.brought = [[]];
  assert.equal(await decide(tool), 'TOOL_POLICY_DENIED', 'not brought any more');
  const own = outsideTool('read_file').tool;
  assert.equal(await decide(own), 'allowed', 'what is built in is none of its business');
});
