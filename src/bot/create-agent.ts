import type { App } from '../app.ts';
import { createStillAdmitted } from '../access/while-admitted.ts';
import { receiveFiles } from '../conversations/receive-files.ts';
import { createTranscribe } from '../conversations/transcribe.ts';
import { createTurnContexts, type CreateTurnContext } from '../conversations/turn-context.ts';
import { takeTurn, type Turn, type TakeTurnDeps } from '../conversations/turn.ts';
import type { AskPeople } from '../core/approval.ts';
import type { Feature } from '../core/feature.ts';
import { systemZone } from '../core/local-time.ts';
import { createReadOffice } from '../lib/files/read-office.ts';
import { costOf } from '../limits/costs.ts';
import {
  auditRuns,
  measureRunCalls,
  measureRuns,
  measureTurnCalls,
} from '../operator/health/measure-work.ts';
import type { Tracing } from '../operator/tracing/tracing.ts';
import type { AgentDeps } from '../runs/agent-deps.ts';
import { chainedUseSkill } from '../runs/chained-skills.ts';
import { createJudgeCalls } from '../runs/judge-calls.ts';
import type { KeptFiles } from '../runs/kept-files.ts';
import { createModelFor } from '../runs/model-for.ts';
import type { Questions } from '../runs/questions.ts';
import { createWithPictures } from '../runs/with-pictures.ts';
import { createAvailability, createRequirements } from '../runs/requirements.ts';
import { createRunContext, type RunDeps } from '../runs/run-context.ts';
import { createRunSkill } from '../runs/run-skill.ts';
import { subagentTool } from '../runs/subagent.ts';
import { whoseDraft } from '../runs/whose-draft.ts';
import { writtenRoot } from '../skills/open-library.ts';
import { createAsItStands, createWrittenSkills } from '../skills/written-skills.ts';

type Agent = Readonly<{ turn: Turn; createContext: CreateTurnContext }>;

/** Makes the main agent's turns and the runs of skills. */
export function createAgent(
  app: App,
  features: readonly Feature[],
  {
    questions,
    received,
    tracing,
  }: Readonly<{ questions: Questions; received: KeptFiles['received']; tracing: Tracing }>,
): Agent {
  const { runtime, store, meter, clock, log, env } = app;
  const deps = agentDeps(app, features, received);
  // Computed late, because Intl is slow to load.
  let machineZone: string | undefined;
  const zone = (): string => runtime().config.bot.timezone ?? (machineZone ??= systemZone());

  // A run may start further runs, so these functions refer to each other. Nothing else in the bot does.
  const chained: RunDeps['chained'] = (...of) => chainedUseSkill(...of, { ...deps, runSkill });
  const subagent: RunDeps['subagent'] = (...of) => subagentTool(...of, { ...app, runSkill });
  const runDeps: RunDeps = { ...deps, questions, chained, subagent };
  const runs = createRunSkill({
    ...app,
    zone,
    questions,
    createContext: tracing.runCalls(measureRunCalls((input) => createRunContext(input, runDeps), meter)),
    costOf: (model, tokens) => costOf(runtime().config, model.alias, tokens),
  });
  const runSkill = tracing.runs(measureRuns(auditRuns(runs, app.audit), meter));

  const createContext = createTurnContexts({ ...deps, runSkill });
  const files = {
    ...app,
    sandbox: app.skillSandbox.sandbox,
    received,
    transcribe: createTranscribe({ env, log }),
    readOffice: createReadOffice(),
  };
  const turnDeps: TakeTurnDeps = {
    store,
    questions,
    audit: app.audit,
    zone,
    clock,
    log,
    receive: (message, background, signal) => receiveFiles(message, background, signal, files),
    heard: { ...app, most: () => runtime().config.agent.backgroundMessages },
  };
  const turn: Turn = (request, context) => takeTurn(request, context, turnDeps);
  return { turn, createContext: tracing.turnCalls(measureTurnCalls(createContext, meter)) };
}

function agentDeps(app: App, features: readonly Feature[], received: KeptFiles['received']): AgentDeps {
  const { runtime, store, skillSandbox, log } = app;
  const { available, sandbox } = skillSandbox;
  const stillAdmitted = createStillAdmitted(app.users);
  const config = () => runtime().config;
  return {
    ...app,
    features,
    stillAdmitted,
    judgeCalls: createJudgeCalls({
      ...app,
      ask: showAsking(features.find(({ ask }) => ask !== undefined)?.ask ?? nobody, app),
      stillAdmitted,
      whose: (text, of) => whoseDraft(text, of, store),
    }),
    availability: createAvailability(available),
    requirements: createRequirements({ config, mode: sandbox.mode, available, features }),
    asItStands: createAsItStands(createWrittenSkills(store), writtenRoot(config())),
    modelFor: createModelFor(app, {
      withPictures: createWithPictures({ received, log }),
      stillAdmitted,
      money: features.find(({ money }) => money !== undefined)?.money,
    }),
  };
}

/** The conversation shows that the bot waits for a person, as long as it does (U15). */
function showAsking(ask: AskPeople, { workStates }: App): AskPeople {
  return {
    ...ask,
    request: (call, ...more) =>
      workStates.asking(call.requester.conversation, () => ask.request(call, ...more)),
  };
}

/** Without a feature that asks people, calls are refused that they would have to agree to. */
const nobody: AskPeople = { request: async () => ({ kind: 'nobody' }), covers: async () => false };
