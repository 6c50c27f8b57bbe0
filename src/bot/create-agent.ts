import type { Channel, WriteCommand } from '../core/channel.ts';
import { createQuestions } from '../runs/questions.ts';
import { createHasBegun } from '../runs/has-begun.ts';
import { createRunSkill, type RunSkill } from '../runs/run-skill.ts';
import { createTurn, type Turn } from '../conversations/turn.ts';
import type { Clock } from '../lib/clock.ts';
import { systemZone } from '../core/local-time.ts';
import type { Log } from '../lib/log.ts';
import type { Meter } from '../core/meter.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { HandOver, Tool } from '../core/tool.ts';
import type { Store } from '../store/store.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import { createChainedSkills } from '../runs/chained-skills.ts';
import { createAttendTask } from '../runs/wait-for-task.ts';
import { costOf } from '../limits/cost-of.ts';
import { createGrantRun } from '../runs/run-context.ts';
import { createGrantTurn, type GrantTurn } from '../conversations/turn-context.ts';
import { createJudgeCalls } from '../approvals/judge-calls.ts';
import { createStillAdmitted } from '../access/while-admitted.ts';
import type { People } from '../access/users.ts';
import type { Live } from '../config/runtime-config.ts';
import {
  auditRuns,
  measureRunCalls,
  measureRuns,
  measureTurnCalls,
} from '../operator/health/measure-work.ts';
import type { MovedChats } from '../access/chat-migrations.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import { createSeeing } from '../runs/seeing.ts';
import { createReadEarlier } from '../conversations/read-earlier.ts';
import { createReceiveFiles } from '../conversations/receive-files.ts';
import type { ReceivedFiles } from '../runs/received-files.ts';
import { createAvailability, createReadiness } from '../runs/requirements.ts';
import type { ChatAgent } from '../settings/chat-agent.ts';
import type { SettingsInForce } from '../settings/settings-in-force.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';
import type { StandingRules } from '../approvals/standing-rules.ts';
import { createTranscribe } from '../conversations/transcribe.ts';
import { createTasks, type Tasks } from '../runs/tasks.ts';
import type { UseOf } from '../access/access-context.ts';

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
