import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { type Invocation } from '../../src/conversations/user-entry.ts';
import { invocationId } from '../../src/agent/models/anthropic-request.ts';
import { createUseSkill, describeResult } from '../../src/runs/use-skill.ts';
import {
  activeSkillsOf,
  createLookupTools,
  type ActiveSkillDeps,
} from '../../src/conversations/active-skills.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';
import { skillRules } from '../../src/config/runtime-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { decideSkill, type SkillUse } from '../../src/access/decide-skill.ts';
import { succeed } from '../../src/core/envelope.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Task } from '../../src/core/message.ts';
import { noTokens, type Model } from '../../src/core/model.ts';
import type { Skill } from '../../src/core/skill.ts';
import { defineTool, readOnly, type Tool, type Traits } from '../../src/core/tool.ts';
import { createSkillLibrary } from '../../src/skills/skill-library.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openDoor } from './call-one-tool.ts';
import { makeMessage } from './make-message.ts';
import { createManualClock } from './manual-clock.ts';
import { quietLog } from './quiet-log.ts';
import { scriptedModel, type ModelStep } from './scripted-model.ts';
import { makeTurn } from './make-turn.ts';
import { partOf } from './app-of.ts';

/** Tools beside those for skills; each call is kept in `did`. */
const extraTools: Readonly<Record<string, Traits>> = {
  bash: { ...readOnly, sideEffects: true, idempotent: false },
  send_file: { ...readOnly, sideEffects: true, idempotent: false },
  web_fetch: readOnly,
  write_file: { ...readOnly, sideEffects: true },
};

const nothingLent = { names: new Set<string>(), by: () => [] };

type Script = Parameters<typeof scriptedModel>[0];

/**
 * The main agent's turns over a real store and real skill files, put together as the bot does it, with tools that only
 * keep what they were called with. A step of the script that is an error ends the process there: `ask` rejects, and
 * the next one goes on from the store as a new process would.
 */
export async function openTurnStage(
  t: TestContext,
  options: Readonly<{
    /** Front matter and body, by name; or other files by path. */
    skills: Readonly<Record<string, string>>;
    script: Script;
    /** Of `[skills]`. */
    toml?: string;
    contextWindow?: number;
    /** In place of the script. */
    model?: Model;
    maxTurns?: number;
  }>,
) {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-turn-'));
  const put = async (name: string, text: string): Promise<void> => {
    const file = path.join(root, 'skills', name.includes('/') ? name : `${name}/SKILL.md`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  for (const [name, text] of Object.entries(options.skills)) await put(name, text);
  const log = quietLog();
  const library = await createSkillLibrary({
    roots: [{ origin: 'user', path: path.join(root, 'skills') }],
    cacheDir: path.join(root, 'cache'),
    log,
  });
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(async () => {
    await library.close();
    await store.close();
    await rm(root, { recursive: true, force: true });
  });
  const settings = { toml: options.toml ?? '' };
  const live = (): RuntimeConfig => {
    const parsed = parseConfig(settings.toml, { env: {}, cwd: root, home: root });
    assert.ok(parsed.ok, JSON.stringify(parsed));
    const { config } = parsed;
    return { config, rules: skillRules(config) } as RuntimeConfig;
  };
  const scripted = scriptedModel(options.script, { contextWindow: options.contextWindow ?? 200_000 });
  const { model = scripted } = options;
  const did: string[] = [];
  const forked: string[] = [];
  const unapproved = new Set<string>();
  const extra = Object.entries(extraTools).map(([name, traits]) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: z.object({ of: z.string().optional(), command: z.string().optional() }),
      traits,
      async run({ of, command }) {
        // Lets calls side by side overtake each other.
        await new Promise((resolve) => setImmediate(resolve));
        did.push(command ?? (of === undefined ? name : `${name} ${of}`));
        return succeed('done');
      },
    }),
  );
  const lookup = createLookupTools();
  const skillDeps: ActiveSkillDeps = {
    runtime: live,
    log,
    library,
    asItStands: async (skill) => ({
      ...skill,
      access: { ...skill.access, approved: !unapproved.has(skill.name) },
    }),
    skillSandbox: { sandbox: partOf({ seen: (_folder, host) => `/seen${host.slice(root.length)}` }) },
    outside: partOf({ names: () => [] }),
    builtInTools: allTools(),
  };
  const turn = makeTurn({ store, clock, log, background: 0 });
  const byPerson: SkillUse = {
    chatType: 'private',
    chatIds: ['telegram:42'],
    external: false,
    sender: 'telegram:42',
    by: 'person',
  };

  /** Says something as Ada, or goes on with what she said under this id. */
  const ask = async (
    text: string,
    more: { id?: string; invocation?: Invocation; task?: Task } = {},
  ): Promise<string> => {
    const message = makeMessage({
      id: more.id ?? 'telegram:42:1',
      text,
      ...(more.task === undefined ? {} : { task: more.task }),
    });
    const visible = (): readonly Skill[] =>
      library
        .current()
        .skills.filter((skill) => decideSkill(skill, live().rules, { ...byPerson, by: 'model' }).allowed);
    const ofTurn = { visible, byPerson, names: () => tools.map(({ name }) => name), lent: nothingLent };
    const following = activeSkillsOf(ofTurn, lookup, skillDeps);
    const { restriction } = following;
    const useSkill = createUseSkill({
      hasStarted: async () => false,
      skills: { visible, find: async (name) => library.current().get(name) },
      access: {
        rules: () => live().rules,
        use: (id) => (id === invocationId(message.id) ? byPerson : { ...byPerson, by: 'model' }),
        onDenied: () => undefined,
      },
      requirements: () => undefined,
      work: {
        async enqueue(skill) {
          forked.push(skill);
          const result = { status: 'ok', text: `${skill} ran`, iterations: 1, durationMs: 1 } as const;
          const more = { tokens: noTokens, artifacts: [], truncated: false };
          return succeed(describeResult(skill, { ...result, ...more }));
        },
        inline: following.inline,
      },
    });
    const tools: readonly Tool[] = [useSkill, ...following.tools, ...extra];
    const callTool = openDoor(tools, {
      allowed: restriction,
      requester: { ...byPerson, kind: 'person', conversation: message.conversation },
      log,
      turn: message.id,
    });
    const grant = {
      model,
      system: [{ type: 'text', text: 'be brief' }],
      tools,
      shown: () =>
        tools.filter(({ name }) => model.bindsThinking === true || restriction.names.includes(name)),
      callTool,
      activate: restriction.activate,
      answers: () => undefined,
      maxTurns: options.maxTurns ?? 25,
    } as const;
    const { invocation } = more;
    const { signal } = new AbortController();
    const request = { key: message.id, message, transcript: 'telegram:42', invocation, signal };
    return (await turn(request, grant)).text;
  };

  return {
    ask,
    /** Writes a skill file that nobody has read yet. */
    write: put,
    /** Writes a skill file and has it read. */
    edit: async (name: string, text: string) => {
      await put(name, text);
      await library.rescan();
    },
    remove: async (name: string) => {
      await rm(path.join(root, 'skills', name), { recursive: true });
      await library.rescan();
    },
    settings,
    /** Names of skills whose approval was undone since they were read. */
    unapproved,
    did,
    forked,
    log,
    requests: scripted.requests,
    /** Names of the tools that the model was shown in each request. */
    shown: () => scripted.requests.map(({ tools }) => tools.map(({ name }) => name).toSorted()),
    entries: async (): Promise<readonly Entry[]> =>
      (await store.transcripts.read('telegram:42')).entries.map(({ entry }) => entry),
    results: async (): Promise<readonly string[]> =>
      (await store.transcripts.read('telegram:42')).entries.flatMap(({ entry }) =>
        entry.kind === 'tool_result' ? [entry.content] : [],
      ),
  };
}

/** One answer that makes these calls: `['web_fetch', 'skills_load a']` with the skill or argument after the name. */
export function calls(...made: readonly string[]): ModelStep {
  return {
    calls: made.map((written) => {
      const [name = '', ...rest] = written.split(' ');
      const argument = rest.join(' ');
      if (name === 'use_skill') return { name, input: { skill: argument, message: 'go' } };
      if (name === 'bash') return { name, input: { command: argument } };
      return { name, input: name.startsWith('skills_') ? { skill: argument } : { of: argument } };
    }),
  };
}

/** A SKILL.md that allows these tools. */
export function allowing(list: string | undefined, more = '', body = 'Do as I say.'): string {
  const allowed = list === undefined ? '' : `allowed_tools: ${list}\n`;
  return `---\ndescription: A skill.\n${allowed}${more}---\n\n${body}\n`;
}
