import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTurnContexts } from '../../src/conversations/turn-context.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';
import { skillRules } from '../../src/config/runtime-config.ts';
import type { Config } from '../../src/config/complete-config.ts';
import { ownToolRows } from '../../src/conversations/own-tools.ts';
import { toolTable } from '../../src/core/built-in-tools.ts';
import { checkMainTools } from '../../src/tools/main-tools.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Message } from '../../src/core/message.ts';
import type { Feature } from '../../src/core/feature.ts';
import { createMemory, memory } from '../../src/features/memory/feature.ts';
import { createRoutinesFeature, routines } from '../../src/features/routines/feature.ts';
import { createOffSandbox } from '../../src/sandbox/off.ts';
import { createRegistry } from '../../src/skills/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { onlyModel } from '../../src/core/model.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { InboxItem } from '../../src/store/inbox.ts';
import { webFetchRows, webFetchTool } from '../../src/tools/web/web-fetch.ts';
import { webSearchRows, webSearchTool } from '../../src/tools/web/web-search.ts';
import { appOf } from '../support/app-of.ts';
import { makeMessage } from '../support/make-message.ts';
import { makeSkill } from '../support/make-skill.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';

/** The tools of the bot itself, and of the features that stand in these tests. */
const builtInTools = toolTable([...ownToolRows, memory.tools, routines.tools, webFetchRows, webSearchRows]);
const parsed = parseConfig('', { env: {} });
assert.ok(parsed.ok);
const { config } = parsed;
const registry = createRegistry([
  makeSkill('dice'),
  makeSkill('byhand', { access: { userInvocable: false } }),
]);
const model = scriptedModel([]);

const use = {
  chatType: 'private',
  chatIds: ['telegram:42'],
  external: false,
  sender: 'telegram:42',
  by: 'person',
} as const;

const store = await openStore('sqlite::memory:', { clock: systemClock });
after(() => store.close());

/** A part that no call of these tests may reach. */
const unused = (what: string) => async (): Promise<never> => assert.fail(`nothing is ${what}`);

function grantBy(settings: Config, log = quietLog()) {
  const app = appOf({
    runtime: () =>
      ({
        config: settings,
        rules: skillRules(settings),
        models: onlyModel(model),
        redact: (text: string) => text,
      }) as unknown as RuntimeConfig,
    store,
    migrations: { current: async (place) => place, original: async (place) => place },
    audit: { record: async () => undefined },
    clock: systemClock,
    log,
    accessOf: async () => use,
    users: {
      isOwner: async () => false,
      timezoneOf: async () => undefined,
      setTimezone: async () => undefined,
      asksTimezone: async () => false,
    },
    channels: new Map(),
    library: { current: () => registry, rescan: async () => registry },
    skillSandbox: { sandbox: createOffSandbox({ limits: sandboxLimits }) },
    folders: createPlainFolders('/nowhere'),
    outside: { offered: async () => [], names: () => [] },
    builtInTools,
    settings: { forCall: () => async () => ({}) },
    deliverArtifacts: unused('delivered'),
    chatAgent: {
      of: async () => ({
        model: settings.agent.model,
        isChosen: false,
        persona: settings.agent.persona,
      }),
    },
    writeCommand: (_, name) => `/${name}`,
    budgets: { ofRun: unused('counted'), atOnce: () => assert.fail('nothing is counted') },
    stopping: new AbortController().signal,
  });
  const search = webSearchTool({ search: unused('searched'), log: quietLog() });
  const web: Feature = { name: 'web', turn: async () => ({ tools: [webFetchTool(), search] }) };
  const createContext = createTurnContexts({
    ...app,
    features: [createMemory(app), createRoutinesFeature(app), web],
    stillAdmitted: async () => ({ allowed: true }),
    judgeCalls: () => async () => ({ allowed: true }),
    asItStands: async (skill) => skill,
    availability: () => () => true,
    requirements: () => undefined,
    modelFor: () => model,
    runSkill: unused('run'),
  });
  return (message: Message) =>
    createContext({
      item: { key: message.id } as InboxItem,
      message,
      use,
      transcript: 'telegram:42',
      progress: () => undefined,
      step: () => undefined,
    });
}

const grantFor = (message: Message, settings: Config = config) => grantBy(settings)(message);

test('U9 a call of the main agent that goes on in a queue of its own is made with the main agent’s tools', async () => {
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
  const mainTools = builtInTools.names(({ main }) => main !== undefined);
  const all = parseConfig(`[agent]\ntools = ${JSON.stringify(mainTools)}\n`, { env: {} });
  assert.ok(all.ok);
  const { tools } = await grantFor(makeMessage({}), all.config);
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), mainTools.toSorted());
  const wrong = parseConfig('[agent]\ntools = ["use_skil", "capability_list"]\n', { env: {} });
  assert.ok(wrong.ok);
  const found = checkMainTools(wrong.config, builtInTools);
  assert.deepEqual(checkMainTools(all.config, builtInTools), []);
  assert.deepEqual(
    found.map(({ level, key }) => [level, ...key]),
    [0, 1].map((index) => ['error', 'agent', 'tools', index]),
  );
  assert.match(found[0]?.message ?? '', /agent\.tools\[0\]: .*write "use_skill"/);
  assert.match(found[1]?.message ?? '', /agent\.tools\[1\].* come by themselves/);
});

test('P1 P2 P4 M3 the prompt is made as [prompt] says, the turn as long as [agent] allows; a short budget is logged once', async () => {
  const wanted = parseConfig(
    '[agent]\nmax_turns = 3\n[prompt]\nskills_format = "xml"\ninclude_location = true\n',
    { env: {} },
  );
  const tight = parseConfig('[prompt]\nskills_budget_chars = 10\n', { env: {} });
  assert.ok(wanted.ok && tight.ok);
  const plain = await grantFor(makeMessage({}));
  const made = await grantFor(makeMessage({}), wanted.config);
  assert.deepEqual([plain.maxTurns, made.maxTurns], [25, 3]);
  assert.match(plain.system[0]?.text ?? '', /\n- dice: /);
  assert.doesNotMatch(plain.system[0]?.text ?? '', /SKILL\.md/);
  assert.match(
    made.system[0]?.text ?? '',
    /<available_skills>[^]*dice[^]*\/skills\/dice\/SKILL\.md[^]*<\/available_skills>/,
  );
  const log = quietLog();
  const grant = grantBy(tight.config, log);
  const cut = await grant(makeMessage({}));
  await grant(makeMessage({ id: 'telegram:42:2' }));
  assert.match(cut.system[0]?.text ?? '', /\+2 more: use skills_search/);
  const told = log.lines.filter(({ message }) => message.includes('skills_budget_chars'));
  assert.deepEqual(
    told.map(({ level, fields }) => [level, fields]),
    [['warn', { shortened: 0, hidden: 2 }]],
  );
});
