import type { Questions } from './questions.ts';
import type { RunContext, RunPlace } from './run-skill.ts';
import type { SkillRequest } from './use-skill.ts';
import { createCapCommand } from '../capabilities/cap-command.ts';
import type { SkillRules } from '../core/access-settings.ts';
import type { ErrorCode } from '../core/codes.ts';
import { decideSkill, isSensitive, type SkillUse, type AccessContext } from '../access/decide-skill.ts';
import type { Decision } from '../access/decide-message.ts';
import type { Log } from '../lib/log.ts';
import type { Skill } from '../core/skill.ts';
import { risks, type DeliverArtifacts, type Tool, type ToolContext } from '../core/tool.ts';
import { removeFolder } from '../lib/files/write-inside.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import { skillEnvironment } from '../sandbox/script-command.ts';
import { lockedSandbox } from '../skills/install/locked-skill-store.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { CapOf } from '../tools/built-in/command-answer.ts';
import { createCallTool } from '../tools/call-tool.ts';
import { parseAllowedTools } from '../tools/allowed-tools.ts';
import { ownScript } from '../tools/own-script.ts';
import { decidePolicy } from '../tools/policy.ts';
import { auditOfCall } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import type { ChainedSkills } from './chained-skills.ts';
import type { JudgeCalls } from '../approvals/judge-calls.ts';
import { whileAdmitted, type StillAdmitted } from '../access/while-admitted.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import { makeRunFolders, runFolders } from '../tools/built-in/run-folders.ts';
import { runTools, scriptGround } from './run-tools.ts';
import type { Seeing } from './received-files.ts';
import type { SettingsInForce } from '../settings/settings-in-force.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';

export type CreateRunContext = (
  skill: Skill,
  request: SkillRequest,
  context: ToolContext,
  run: RunPlace,
) => Promise<RunContext>;

/** What a run gets: its body, its model, its own tools under its ceiling, and nothing of any other skill (U2, T5). */
export function createRunContexts(options: {
  runtime: () => RuntimeConfig;
  library: SkillLibrary;
  sandbox: Sandbox;
  packages: ScriptPackages;
  accessOf: AccessContext;
  authoring: Pick<SkillAuthoring, 'writing' | 'asItStands'>;
  judgeCalls: JudgeCalls;
  stillAdmitted: StillAdmitted;
  web: () => readonly Tool[];
  outside: Pick<OutsideTools, 'offered' | 'names'>;
  capabilities: Pick<Capabilities, 'tools'>;
  migrations: Pick<ChatMigrations, 'original'>;
  deliverArtifacts: DeliverArtifacts;
  seeing: Seeing;
  settings: Pick<SettingsInForce, 'forCall'>;
  questions: Pick<Questions, 'tool'>;
  chained: ChainedSkills;
  audit: Pick<Audit, 'record'>;
  log: Log;
}): CreateRunContext {
  const {
    runtime,
    library,
    sandbox,
    packages,
    accessOf,
    authoring,
    judgeCalls,
    web,
    outside,
    capabilities,
    migrations,
    deliverArtifacts,
    questions,
    chained,
    settings: chatSettings,
    audit,
    log,
  } = options;
  const { writing, asItStands } = authoring;

  /** Whether policy is no stricter with a tool than with another one of the same risk. */
  function noStricter(
    tool: string,
    than: string,
    of: Readonly<{ skill: string; requester: ToolContext['requester'] }>,
  ): boolean {
    const { policy } = runtime().config;
    return risks.every((risk) => {
      const [one, other] = [tool, than].map(
        (name) => decidePolicy(policy, { ...of, tool: name, risk, marked: false }).action,
      );
      return one === other || one === 'allow' || other === 'deny';
    });
  }

  return async (skill, request, context, run) => {
    const { config, models, redact } = runtime();
    const settings = config.skills.byName[skill.name];
    if (!(await asItStands(skill)).access.approved)
      return refused('SKILL_DISABLED', `${skill.name} was changed and waits for approval`);
    const environment = skillEnvironment(skill, settings?.env ?? {});
    if (environment.missing.length > 0)
      return refused('MISSING_ENV', `${skill.name} lacks ${environment.missing.join(', ')}`);
    for (const { message } of environment.diagnostics) log.warn({ skill: skill.name }, message);
    const seenAt = skill.directory === undefined ? undefined : sandbox.seen('skill', skill.directory);
    const body = await library.current().body(skill.name, request.args ?? request.message, seenAt);
    if (!body.ok) return refused(body.code, body.message);

    const { files, cut } = listSkillFiles(skill);
    const place = await migrations.original(context.requester.conversation);
    const folders = runFolders(config.bot.workspace, place, run.id);
    const scripts = scriptGround(skill, folders, sandbox);
    const runsScripts = (requester: ToolContext['requester']): boolean =>
      noStricter('skills_run_script', 'bash', { skill: skill.name, requester });
    const timeoutSeconds = Math.min(skill.timeoutSeconds, config.sandbox.timeoutSeconds);
    const profile = config.agents[skill.agent];
    if (profile === undefined && skill.agent !== 'general')
      log.warn(
        { skill: skill.name, agent: skill.agent },
        'no [agents] profile has this name: general is used',
      );
    const allowed = skill.allowedTools?.length ? skill.allowedTools : profile?.tools;
    // Only where it is written out (T5): a run that may not chain is not even offered it.
    const chains = allowed?.includes('use_skill') === true;
    const own = runTools({
      allowed,
      ofScripts: {
        inCeiling: () => ceiling.ok && ceiling.names.includes('skills_run_script'),
        asFreely: runsScripts,
      },
      skill: {
        ...skill,
        timeoutSeconds,
        // Public skills know nothing of `network`: then it is the operator who names hosts.
        network: [...new Set([...skill.network, ...(settings?.network ?? [])])],
      },
      scripts,
      folders,
      sandbox: lockedSandbox(sandbox, skill),
      packages,
      env: environment.env,
      envInBash: settings?.envInBash,
      quota: config.sandbox.diskMb * 1024 * 1024,
      writing,
      web: web(),
      cap:
        skill.capabilities.length === 0
          ? undefined
          : (of: Parameters<CapOf>[0]) => createCapCommand((...call) => callTool(...call), of),
    });
    const asking = questions.tool({ run: run.id, skill: skill.name, transcript: run.transcript });
    const tools = [
      ...own,
      asking,
      ...(chains ? [await chained(skill, run, context.requester)] : []),
      ...capabilities.tools(skill, run.id),
      ...(await outside.offered(context.requester, 'run')),
    ];
    await makeRunFolders(folders);
    const ceiling = parseAllowedTools(
      allowed,
      tools.map(({ name }) => name),
      {
        declaresCapabilities: skill.capabilities.length > 0,
        invalid: config.skills.invalidAllowedTools,
        elsewhere: outside.names(),
        startsOwnScript:
          scripts === undefined
            ? undefined
            : (command) => runsScripts(context.requester) && ownScript(command, scripts) !== undefined,
      },
    );
    for (const { code, message } of ceiling.warnings) {
      // A tool that is switched off here is the operator's choice, no mistake of the skill.
      const level = code === 'ALLOWED_TOOLS_NOT_OFFERED' ? 'debug' : 'warn';
      log[level]({ skill: skill.name, code }, message);
    }
    if (!ceiling.ok) return refused(ceiling.code, ceiling.message);
    const callTool = createCallTool({
      tools,
      ceiling,
      decide: judgeCalls({
        skill,
        run: run.id,
        transcript: run.transcript,
        async mayGoOn() {
          // What an edit tightened applies at the next tool call (D7).
          const use = await accessOf({ ...context.requester, sender: { id: context.requester.sender } });
          return mayGoOn(await asItStands(skill), runtime().rules, use);
        },
        waiting: run.deadline.pause,
      }),
      requester: context.requester,
      redact,
      log,
      onProgress: (text) => context.progress(text),
      turn: `${context.turn}!${run.id}`,
      run: { id: run.id, skill: skill.name },
      settings: chatSettings.forCall(context.requester.conversation),
      deliverArtifacts,
      audit: (call) =>
        audit.record(auditOfCall(call, { skill: skill.name, run: run.id }, runtime().config.audit.arguments)),
    });
    const wanted = settings?.model ?? skill.model ?? profile?.model ?? config.agent.model;
    const unknown = models.check(wanted);
    if (unknown !== undefined) log.warn({ skill: skill.name, code: unknown.code }, unknown.message);
    return {
      ok: true,
      sensitive: isSensitive(skill, runtime().rules),
      model: whileAdmitted(
        options.seeing(models.get(wanted), folders.chat),
        context.requester,
        options.stillAdmitted,
      ),
      maxIterations: settings?.maxIterations ?? skill.maxIterations,
      timeoutSeconds,
      profile: profile?.prompt === undefined ? undefined : profile.prompt,
      body: { text: redact(body.text), filled: body.substituted },
      files: files.map((file) => redact(file)),
      filesCut: cut,
      tools: tools.filter(({ name }) => ceiling.names.includes(name)),
      callTool,
      clear: () =>
        removeFolder(folders.scratch).catch((error: unknown) => {
          log.warn(
            { err: error, run: run.id },
            'the folder of a run could not be removed: tried again later',
          );
        }),
    };
  };
}

/** A run that was started by a person or a model continues while either may. */
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

function refused(code: ErrorCode, text: string): RunContext {
  return { ok: false, result: { code, text } };
}
