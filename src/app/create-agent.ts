import type { Channel, WriteCommand } from '../core/channel.ts';
import { createQuestions } from '../agent/questions.ts';
import { createHasBegun } from '../agent/has-begun.ts';
import { createRunSkill, type RunSkill } from '../agent/run-skill.ts';
import { createTurn, type Turn } from '../agent/turn.ts';
import type { Clock } from '../core/clock.ts';
import { systemZone } from '../core/local-time.ts';
import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import type { AvailablePackages } from '../sandbox/available-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/script-packages.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { HandOver, Tool } from '../core/tool.ts';
import type { Store } from '../stores/store.ts';
import type { Approvals } from './gates/approvals.ts';
import type { Audit } from './audit/create-audit.ts';
import type { Budgets } from './gates/budgets.ts';
import type { Capabilities } from './capabilities/create-capabilities.ts';
import { createChainedSkills } from './chained-skills.ts';
import { createAttendTask } from './attend-task.ts';
import { costOf } from './gates/cost-of.ts';
import { createGrantRun } from './grant-run.ts';
import { createGrantTurn, type GrantTurn } from './grant-turn.ts';
import { createJudgeCalls } from './gates/judge-calls.ts';
import { createStillAdmitted } from './gates/while-admitted.ts';
import type { People } from './door/people.ts';
import type { Live } from './live.ts';
import { auditRuns, measureRunCalls, measureRuns, measureTurnCalls } from './health/measure-work.ts';
import type { MovedChats } from './moved-chats.ts';
import type { OutsideTools } from './outside-tools.ts';
import { createSeeing } from './seeing.ts';
import { createReadEarlier } from './read-earlier.ts';
import { createReceiveFiles } from './receive-files.ts';
import type { ReceivedFiles } from './received-files.ts';
import { createAvailability, createReadiness } from './readiness.ts';
import type { ChatAgent } from './settings/chat-agent.ts';
import type { SettingsInForce } from './settings/settings-in-force.ts';
import type { SkillAuthoring } from './authoring/skill-authoring.ts';
import type { StandingRules } from './gates/standing-rules.ts';
import { createTranscribe } from './transcribe.ts';
import { createTasks, type Tasks } from './tasks.ts';
import type { UseOf } from './use-of.ts';

/** What thinks: the main agent's turn with what it is granted, and the runs it begins. It knows people and chats by name only. */
export type Agent = Readonly<{ turn: Turn; grant: GrantTurn; tasks: Tasks }>;

export function createAgent(options: {
  live: () => Live;
  store: Store;
  library: SkillLibrary;
  sandbox: Sandbox;
  available(): AvailablePackages;
  packages: ScriptPackages;
  useOf: UseOf;
  authoring: SkillAuthoring;
  approvals: Approvals;
  rules: Pick<StandingRules, 'covers'>;
  budgets: Budgets;
  /** Tools that reach the internet, as config has them now. */
  web: () => readonly Tool[];
  outside: OutsideTools;
  capabilities: Pick<Capabilities, 'tools' | 'lacking'>;
  moved: Pick<MovedChats, 'original'>;
  handOver: HandOver;
  channels: ReadonlyMap<string, Pick<Channel, 'fetchFile' | 'readEarlier'>>;
  received: Pick<ReceivedFiles, 'keep' | 'read'>;
  writeCommand: WriteCommand;
  people: Pick<People, 'mayAct'>;
  settings: Pick<SettingsInForce, 'forCall'>;
  chatAgent: Pick<ChatAgent, 'of'>;
  audit: Pick<Audit, 'record'>;
  meter: Meter;
  /** Aborted when the process is to end. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}): Agent {
  const { live, store, sandbox, available, meter, clock, log } = options;
  const questions = createQuestions({ store, clock });
  const stillAdmitted = createStillAdmitted(options.people);
  const judgeCalls = createJudgeCalls({ ...options, stillAdmitted });
  const readiness = createReadiness({
    config: () => live().config,
    mode: sandbox.mode,
    available,
    lackingCapabilities: options.capabilities.lacking,
  });
  const availability = createAvailability(available);
  const zone = (): string => live().config.bot.timezone ?? systemZone();
  const seeing = createSeeing(options);
  const hasBegun = createHasBegun(store);
  const chained = createChainedSkills({
    ...options,
    availability,
    readiness,
    runSkill: (...of) => runSkill(...of),
    hasBegun,
  });
  const runs = auditRuns(
    createRunSkill({
      store,
      zone,
      questions,
      grant: measureRunCalls(
        createGrantRun({ ...options, judgeCalls, stillAdmitted, questions, chained, seeing }),
        meter,
      ),
      costOf: (model, tokens) => costOf(live().config, model.alias, tokens),
      clock,
      log,
    }),
    options.audit,
  );
  const runSkill: RunSkill = measureRuns(runs, meter);
  const tasks = createTasks({
    store,
    clock,
    onSignalFault: (error) => log.warn({ err: error }, 'the progress of a run could not be told'),
  });
  const grant = createGrantTurn({
    ...options,
    availability,
    readiness,
    runSkill,
    hasBegun,
    tasks,
    attendTask: createAttendTask({ store, stopping: options.stopping, clock }),
    judgeCalls,
    stillAdmitted,
    seeing,
  });
  const background = () => live().config.agent.backgroundMessages;
  return {
    turn: createTurn({
      store,
      questions,
      receive: createReceiveFiles({ ...options, transcribe: createTranscribe(log) }),
      readEarlier: createReadEarlier(options),
      zone,
      background,
      clock,
      log,
    }),
    grant: measureTurnCalls(grant, meter),
    tasks,
  };
}
