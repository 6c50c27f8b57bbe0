import type { Feature } from '../core/feature.ts';
import { createStillAdmitted } from '../access/while-admitted.ts';
import { createJudgeCalls } from '../approvals/judge-calls.ts';
import { receiveFiles } from '../conversations/receive-files.ts';
import { createTranscribe } from '../conversations/transcribe.ts';
import { createTurnContexts, type CreateTurnContext } from '../conversations/turn-context.ts';
import { takeTurn, type Turn, type TurnMeans } from '../conversations/turn.ts';
import { systemZone } from '../core/local-time.ts';
import { costOf } from '../limits/budgets.ts';
import {
  auditRuns,
  measureRunCalls,
  measureRuns,
  measureTurnCalls,
} from '../operator/health/measure-work.ts';
import { noTracing } from '../operator/tracing/tracing.ts';
import { chainedUseSkill } from '../runs/chained-skills.ts';
import { createQuestions } from '../runs/questions.ts';
import { createSeeing } from '../runs/received-files.ts';
import { createReadOffice } from '../lib/files/read-office.ts';
import { createAvailability, createRequirements } from '../runs/requirements.ts';
import { createRunContext, type RunDeps } from '../runs/run-context.ts';
import { whoseDraft } from '../runs/whose-draft.ts';
import { createRunSkill } from '../runs/run-skill.ts';
import { subagentTool } from '../runs/subagent.ts';
import type { SkillSupply } from '../runs/work-deps.ts';
import type { BotParts } from './bot.ts';
import type { Base } from './create-base.ts';
import type { Features } from './create-features.ts';

type Agent = Readonly<{ turn: Turn; createContext: CreateTurnContext }>;

export function createAgent(
  base: Base,
  features: Features & Readonly<{ all: readonly Feature[] }>,
  parts: BotParts,
): Agent {
  const { host, people, chat } = base;
  const { runtime, store, clock, log } = host;
  const { approvals, rules, budgets, capabilities, authoring, chatAgent, files } = features;
  const { meter, env, tracing = noTracing } = parts.host;
  const { accessOf, users } = people;
  const { outside } = features.tools;
  const { received, deliverArtifacts } = files;
  const stillAdmitted = createStillAdmitted(users);
  const judgeCalls = createJudgeCalls({
    whose: (text, of) => whoseDraft(text, of, host.store),
    ...host,
    approvals,
    rules,
    outside,
    deliverArtifacts,
    stillAdmitted,
  });
  const gates = { accessOf, stillAdmitted, judgeCalls };
  const seeing = createSeeing({ received, log });
  const tools = { ...features.tools, capabilities, deliverArtifacts, seeing };
  const skills = supplySkills(base, { authoring, capabilities }, parts);
  const questions = createQuestions({ store, clock });
  // Computed late, because Intl is slow to load.
  let machineZone: string | undefined;
  const zone = (): string => runtime().config.bot.timezone ?? (machineZone ??= systemZone());

  // A run may start further runs, so these functions refer to each other. Nothing else in the bot does.
  const chained: RunDeps['chained'] = (...of) =>
    chainedUseSkill(...of, { host, skills, accessOf, runSkill, budgets });
  const subagent: RunDeps['subagent'] = (...of) => subagentTool(...of, { store, runSkill, budgets });
  const runs = createRunSkill({
    store,
    zone,
    questions,
    createContext: tracing.runCalls(
      measureRunCalls(
        (input) => createRunContext(input, { host, gates, skills, tools, questions, chained, subagent }),
        meter,
      ),
    ),
    costOf: (model, tokens) => costOf(runtime().config, model.alias, tokens),
    clock,
    log,
  });
  const runSkill = tracing.runs(measureRuns(auditRuns(runs, host.audit), meter));

  const createContext = createTurnContexts({
    host,
    gates,
    skills,
    tools,
    chatAgent,
    features: features.all,
    writeCommand: chat.writeCommand,
    runs: { runSkill, budgets, stopping: base.process.stopping.signal },
  });
  const { channels } = chat;
  const { sandbox, folders } = skills;
  const transcribe = createTranscribe({ env, log });
  const readOffice = createReadOffice();
  const filesDeps = { ...host, sandbox, folders, channels, received, transcribe, readOffice };
  const means: TurnMeans = {
    store,
    questions,
    audit: host.audit,
    zone,
    clock,
    log,
    receive: (message, background, signal) => receiveFiles(message, background, signal, filesDeps),
    heard: { channels, users, most: () => runtime().config.agent.backgroundMessages },
  };
  const turn: Turn = (request, context) => takeTurn(request, context, means);
  return { turn, createContext: tracing.turnCalls(measureTurnCalls(createContext, meter)) };
}

function supplySkills(
  { host: { runtime } }: Base,
  { authoring, capabilities }: Pick<Features, 'authoring' | 'capabilities'>,
  { library, folders, skillSandbox: { sandbox, packages, available } }: BotParts,
): SkillSupply {
  const requirements = createRequirements({
    config: () => runtime().config,
    mode: sandbox.mode,
    available,
    lackingCapabilities: capabilities.lacking,
  });
  return {
    library,
    authoring,
    sandbox,
    packages,
    folders,
    requirements,
    availability: createAvailability(available),
  };
}
