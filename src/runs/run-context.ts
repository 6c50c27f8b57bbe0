import { decideSkill, isSensitive, type SkillUse } from '../access/decide-skill.ts';
import type { Decision } from '../access/decide-message.ts';
import { restrictedSkills } from '../access/restricted-skills.ts';
import { auditOfCall } from '../audit/audit-event.ts';
import { createCapCommand } from '../tools/built-in/cap-command.ts';
import type { SkillRules } from '../core/access-settings.ts';
import type { ErrorCode } from '../core/codes.ts';
import type { Skill } from '../core/skill.ts';
import type { NewRun } from '../core/feature.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Requester, Tool } from '../core/tool.ts';
import { skillEnvironment } from '../sandbox/script-command.ts';
import { lockedSandbox } from '../skills/install/locked-skill-store.ts';
import type { FilledBody } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { bringShared } from './shared-files.ts';
import { whoseDraft } from './whose-draft.ts';
import {
  chatFolder,
  makeRunFolders,
  namesOfRun,
  runFolders,
  type RunFolders,
} from '../tools/built-in/run-folders.ts';
import { parseAllowedTools, type AllowedTools, type AllowedToolsResult } from '../tools/allowed-tools.ts';
import { createCallTool } from '../tools/call-tool.ts';
import { withoutDisallowed } from '../tools/disallowed-tools.ts';
import { ownScript, type ScriptGround } from '../tools/own-script.ts';
import { deniesEveryCall, letsModelCall } from '../tools/policy.ts';
import type { Questions } from './questions.ts';
import type { RunContext, RunInput, RunPlace } from './run-skill.ts';
import {
  commandTools,
  namesOfCommandTools,
  plainRunTools,
  runsScriptsAsFreely,
  scriptGround,
} from './run-tools.ts';
import { skillRunSettings } from './skill-run-settings.ts';
import type { AgentDeps } from './agent-deps.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export type RunDeps = AgentDeps &
  Readonly<{
    questions: Questions;
    chained(skill: Skill, run: RunPlace, requester: Requester): Promise<Tool>;
    subagent(skill: Skill, run: RunPlace, maxIterations: number): Tool;
  }>;

/** Makes what a run works with: only this skill's body, model and tools (U2, T5). Not `ok` if the skill can't run. */
export async function createRunContext(input: RunInput, deps: RunDeps): Promise<RunContext> {
  const ready = await readBody(input, deps);
  if (!ready.ok) return ready;
  const { folders } = deps;
  const { packages } = deps.skillSandbox;
  const { skill, context, run } = input;
  const plan = await planRun(input, deps);
  await folders.use(namesOfRun(plan.folders), 'reads', () => makeRunFolders(plan.folders));
  if (plan.restricted.length > 0) await bringShared({ shared: plan.shared, own: plan.folders.chat }, folders);
  const working = { ...plan, working: folders, maxBytes: deps.runtime().config.skills.maxBytes };
  const plain = plainRunTools(working);
  const others = await otherTools(input, plan, deps);
  const drawn = drawAllowedTools(
    [...namesOfCommandTools(plan), ...[...plain, ...others].map(({ name }) => name)],
    { input, plan },
    deps,
  );
  if (!drawn.ok) return refused(drawn.code, drawn.message);
  const allowedTools = withoutDisallowed(drawn, skill.disallowedTools);
  const commands = commandTools({
    ...working,
    sandbox: lockedSandbox(plan.sandbox, skill),
    packages,
    env: ready.env,
    mayRunScripts: {
      inAllowedTools: allowedTools.names.includes('skills_run_script'),
      asFreely: (requester) => runsScriptsAsFreely(skill, requester, deps),
    },
    cap:
      skill.capabilities.length === 0
        ? undefined
        : (of) => createCapCommand((...call) => callTool(...call), of),
  });
  const [readOwn, ...files] = plain;
  const all = [...(readOwn === undefined ? [] : [readOwn]), ...commands, ...files, ...others];
  const callTool = callToolOf(input, { all, allowedTools, plan }, deps);
  const { redact, rules, config } = deps.runtime();
  const of = { skill: skill.name, requester: context.requester };
  const [isDenied, mayCall] = [deniesEveryCall(config.policy, of), letsModelCall(config.policy, of)];
  const { files: listed, cut } = listSkillFiles(skill);
  return {
    ok: true,
    sensitive: isSensitive(skill, rules),
    model: deps.modelFor(plan.model, plan.shared, {
      ...{ requester: context.requester, skill: skill.name, transcript: run.transcript },
      pause: run.deadline.pause,
    }),
    maxIterations: plan.maxIterations,
    timeoutSeconds: plan.skill.timeoutSeconds,
    profile: plan.profile,
    body: { text: redact(ready.body.text), filled: ready.body.substituted },
    files: listed.map((file) => redact(file)),
    filesCut: cut,
    tools: all.filter((tool) => allowedTools.names.includes(tool.name) && !isDenied(tool) && mayCall(tool)),
    callTool,
    clear: () => clearScratch(plan.folders, run.id, deps),
  };
}

async function readBody(
  { skill, request: { args, message } }: RunInput,
  deps: RunDeps,
): Promise<
  | Readonly<{ ok: true; body: Extract<FilledBody, { ok: true }>; env: Readonly<Record<string, string>> }>
  | Extract<RunContext, { ok: false }>
> {
  const { byName, maxBytes } = deps.runtime().config.skills;
  if (!(await deps.asItStands(skill)).access.approved)
    return refused('SKILL_DISABLED', `${skill.name} was changed and waits for approval`);
  const environment = skillEnvironment(skill, byName[skill.name]?.env ?? {});
  if (environment.missing.length > 0)
    return refused('MISSING_ENV', `${skill.name} lacks ${environment.missing.join(', ')}`);
  for (const { message } of environment.diagnostics) deps.log.warn({ skill: skill.name }, message);
  const { sandbox } = deps.skillSandbox;
  const skillPath = skill.directory === undefined ? undefined : sandbox.seen('skill', skill.directory);
  const body = await deps.library.current().body(skill.name, args ?? message, { skillPath, maxBytes });
  if (!body.ok) return refused(body.code, body.message);
  return { ok: true, body, env: environment.env };
}

type RunPlan = Readonly<{
  /** The skill with this host's time limit and allowed hosts. */
  skill: Skill;
  allowed: readonly string[] | undefined;
  folders: RunFolders;
  /** Names of the skills of the run that not everybody in the chat may use; see `ToolContext`. */
  restricted: readonly string[];
  /** Path of the folder that the whole chat shares. */
  shared: string;
  sandbox: Sandbox;
  scripts: ScriptGround | undefined;
  /** False if the operator keeps the skill's env from commands that the model writes (U3). */
  envInBash: boolean;
  profile: string | undefined;
  model: string;
  maxIterations: number;
  quota: number;
}>;

async function planRun(
  { skill, context, run }: RunInput,
  { runtime, log, migrations, folders: stored, skillSandbox: { sandbox } }: RunDeps,
): Promise<RunPlan> {
  const { config, models, rules } = runtime();
  const settings = config.skills.byName[skill.name];
  const profile = config.agents[skill.agent];
  if (profile === undefined && skill.agent !== 'general')
    log.warn({ skill: skill.name, agent: skill.agent }, 'no [agents] profile has this name: general is used');
  const place = await migrations.original(context.requester.conversation);
  const restricted = restrictedSkills([...run.chain, skill.name], rules, context.requester.chatType);
  const folders = runFolders(stored.root, place, { id: run.scratch, restricted });
  const { model, maxIterations } = skillRunSettings(skill, config);
  const unknown = models.check(model);
  if (unknown !== undefined) log.warn({ skill: skill.name, code: unknown.code }, unknown.message);
  return {
    skill: {
      ...skill,
      timeoutSeconds: Math.min(skill.timeoutSeconds, config.sandbox.timeoutSeconds),
      // Skills written for other programs do not declare `network`, so the operator's list counts, too.
      network: [...new Set([...skill.network, ...(settings?.network ?? [])])],
    },
    allowed: skill.allowedTools?.length ? skill.allowedTools : profile?.tools,
    folders,
    restricted,
    shared: chatFolder(stored.root, place),
    scripts: scriptGround(skill, folders, sandbox),
    sandbox,
    envInBash: settings?.envInBash ?? true,
    profile: profile?.prompt,
    model,
    maxIterations: run.part?.maxIterations ?? maxIterations,
    quota: config.sandbox.diskMb * 1024 * 1024,
  };
}

async function otherTools(
  { skill, context, run }: RunInput,
  { allowed, maxIterations }: RunPlan,
  { features, outside, store, questions, chained, subagent }: RunDeps,
): Promise<readonly Tool[]> {
  // A list must name `use_skill`; no list and no pattern includes it (T5).
  const chains = allowed?.includes('use_skill') === true;
  // A subagent can't ask people and starts no further runs (U7).
  const ofWhole =
    run.part === undefined
      ? [
          questions.tool({ run: run.id, skill: skill.name, transcript: run.transcript }),
          subagent(skill, run, maxIterations),
          ...(chains ? [await chained(skill, run, context.requester)] : []),
        ]
      : [];
  const { requester } = context;
  const { transcript } = run;
  const whose: NewRun['whose'] = (text) =>
    whoseDraft(text, { run: transcript, sender: requester.sender }, store);
  const begun: NewRun = { skill, requester, run: run.id, transcript, named: allowed, whose };
  const ofFeatures = await Promise.all(features.map(async (feature) => feature.run?.(begun) ?? []));
  return [...ofWhole, ...ofFeatures.flat(), ...(await outside.offered(requester, 'run'))];
}

function drawAllowedTools(
  names: readonly string[],
  { input: { skill, context }, plan }: Readonly<{ input: RunInput; plan: RunPlan }>,
  deps: RunDeps,
): AllowedToolsResult {
  const { scripts, allowed } = plan;
  const allowedTools = parseAllowedTools(allowed, names, {
    builtInTools: deps.builtInTools,
    invalid: deps.runtime().config.skills.invalidAllowedTools,
    elsewhere: deps.outside.names(),
    startsOwnScript:
      scripts === undefined
        ? undefined
        : (command) =>
            runsScriptsAsFreely(skill, context.requester, deps) && ownScript(command, scripts) !== undefined,
  });
  for (const { code, message } of allowedTools.warnings) {
    // A tool that this host has switched off is no mistake of the skill.
    const level = code === 'ALLOWED_TOOLS_NOT_OFFERED' ? 'debug' : 'warn';
    deps.log[level]({ skill: skill.name, code }, message);
  }
  return allowedTools;
}

function callToolOf(
  { skill, context, run }: RunInput,
  { all, allowedTools, plan }: Readonly<{ all: readonly Tool[]; allowedTools: AllowedTools; plan: RunPlan }>,
  deps: RunDeps,
): CallTool {
  const { requester } = context;
  const of = { skill: skill.name, run: run.id };
  const decide = deps.judgeCalls({
    skill,
    run: run.id,
    transcript: run.transcript,
    async mayGoOn() {
      // An edit that takes rights away applies from the next call on (D7).
      const use = await deps.accessOf({ ...requester, sender: { id: requester.sender } });
      return mayGoOn(await deps.asItStands(skill), deps.runtime().rules, use);
    },
    waiting: run.deadline.pause,
  });
  return createCallTool(
    {
      tools: all,
      allowed: allowedTools,
      requester,
      turn: `${context.turn}!${run.id}`,
      run: { id: run.id, skill: skill.name, restricted: plan.restricted },
    },
    {
      decide,
      settings: deps.settings.forCall(requester.conversation),
      deliverArtifacts: deps.deliverArtifacts,
      audit: (call) => deps.audit.record(auditOfCall(call, of, deps.runtime().config.audit.arguments)),
      redact: deps.runtime().redact,
      onProgress: (text) => context.progress(text),
      onStep: (step) =>
        context.step({ ...step, id: `${run.id}/${step.id}`, title: `${skill.name}: ${step.title}` }),
      waiting: run.deadline.pause,
      log: deps.log,
    },
  );
}

function clearScratch(of: RunFolders, run: string, { folders, log }: RunDeps): Promise<void> {
  const [scratch] = namesOfRun(of);
  return folders.remove([scratch]).catch((error: unknown) => {
    log.warn({ err: error, run }, 'could not remove the folder of a run: trying again later');
  });
}

/** Whether the run may continue: the skill must still be allowed to the person or to the model. */
function mayGoOn(skill: Skill, rules: SkillRules, use: SkillUse): Decision<'TOOL_POLICY_DENIED'> {
  const decision = decideSkill(skill, rules, { ...use, by: 'person' });
  if (decision.allowed || decideSkill(skill, rules, { ...use, by: 'model' }).allowed)
    return { allowed: true };
  return {
    ...decision,
    code: 'TOOL_POLICY_DENIED',
    hint: 'this skill may not be used here any more: end now',
  };
}

function refused(code: ErrorCode, text: string): Extract<RunContext, { ok: false }> {
  return { ok: false, result: { code, text } };
}
