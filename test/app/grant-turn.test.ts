import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGrantTurn } from '../../src/app/grant-turn.ts';
import type { Live } from '../../src/app/live.ts';
import { skillRules } from '../../src/config/access-from-config.ts';
import type { Config } from '../../src/config/complete-config.ts';
import { mainTools } from '../../src/config/main-tools.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Message } from '../../src/core/message.ts';
import { createOffSandbox } from '../../src/sandbox/off.ts';
import { createRegistry } from '../../src/skills/registry.ts';
import type { SkillLibrary } from '../../src/skills/skill-library.ts';
import type { InboxItem } from '../../src/stores/inbox.ts';
import { webFetchTool } from '../../src/tools/built-in/web-fetch.ts';
import { webSearchTool } from '../../src/tools/built-in/web-search.ts';
import { makeMessage } from '../support/make-message.ts';
import { makeSkill } from '../support/make-skill.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const parsed = parseConfig('', { env: {} });
assert.ok(parsed.ok);
const { config } = parsed;
const registry = createRegistry([
  makeSkill('dice'),
  makeSkill('byhand', { access: { userInvocable: false } }),
]);
const model = scriptedModel([]);

type Needs = Parameters<typeof createGrantTurn>[0];

/** What these calls do not touch. */
const untouched = {} as Needs;

function grantFor(message: Message, settings: Config = config) {
  const grant = createGrantTurn({
    ...untouched,
    live: () =>
      ({
        config: settings,
        rules: skillRules(settings),
        models: { get: () => model },
        redact: (text: string) => text,
      }) as unknown as Live,
    library: { current: () => registry, rescan: async () => registry } as unknown as SkillLibrary,
    sandbox: createOffSandbox({ limits: sandboxLimits }),
    availability: () => () => true,
    readiness: () => undefined,
    runSkill: async () => assert.fail('nothing is run'),
    tasks: { setUp: async () => assert.fail('nothing is set up') },
    attendTask: async () => assert.fail('nothing is waited for'),
    judgeCalls: () => async () => ({ allowed: true }),
    web: () => [
      webFetchTool(),
      webSearchTool({ search: async () => assert.fail('nothing is searched'), log: quietLog() }),
    ],
    outside: { offered: async () => [], names: () => [] },
    settings: { forCall: () => async () => ({}) },
    moved: { original: async (conversation) => conversation },
    log: quietLog(),
  });
  const use = {
    chatType: 'private',
    chatIds: ['telegram:42'],
    external: false,
    sender: 'telegram:42',
    by: 'person',
  } as const;
  return grant({ key: message.id } as InboxItem, message, use, 'telegram:42', () => undefined);
}

test('U9 a call of the main agent that goes on in a lane of its own is made with the main agent’s tools', async () => {
  const task = {
    kind: 'run',
    id: 'abcdef',
    skill: 'skills_list',
    tool: 'skills_list',
    input: {},
    by: 'model',
    parent: 'telegram:42',
    toolUseId: 'call_1',
  } as const;
  const { callTool } = await grantFor(makeMessage({ task }));
  const call = { id: 'call_1', name: 'skills_list', input: {} };
  const { content, isError } = await callTool(call, new AbortController().signal);
  assert.equal(isError, false);
  assert.match(content, /"dice"/);
});

test('T2 G2 what [agent] tools may name is what the main agent can be given', async () => {
  const all = parseConfig(`[agent]\ntools = ${JSON.stringify(mainTools)}\n`, { env: {} });
  assert.ok(all.ok);
  const { tools } = await grantFor(makeMessage({}), all.config);
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), mainTools.toSorted());
  const wrong = parseConfig('[agent]\ntools = ["use_skil", "capability_list"]\n', { env: {} });
  assert.match(
    wrong.ok ? '' : (wrong.problems[0]?.message ?? ''),
    /agent\.tools\[0\] is "use_skil": .*write "use_skill"/,
  );
  assert.match(wrong.ok ? '' : (wrong.problems[1]?.message ?? ''), /agent\.tools\[1\].* come by themselves/);
});
