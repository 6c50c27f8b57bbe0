import { existsSync } from 'node:fs';
import { z } from 'zod';
import { createPeople, type People } from '../access/create-people.ts';
import { createStandingRules, type StandingRules } from '../features/approvals/standing-rules.ts';
import { auditPlace } from '../audit/audit-files.ts';
import { createAudit, type Audit } from '../audit/create-audit.ts';
import { createSkillApprovals, type SkillApprovals } from '../features/authoring/approve-skill.ts';
import type { Capabilities } from '../features/capabilities/create-capabilities.ts';
import {
  createCapabilityBase,
  createCapabilityOperations,
} from '../features/capabilities/capability-base.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';
import { accessSettings, skillRules } from '../config/runtime-config.ts';
import type { Config } from '../config/complete-config.ts';
import { createThreadPartners } from '../replies/threads.ts';
import { terminalOwnerId, type AccessSettings } from '../core/access-settings.ts';
import { OperatorError } from '../core/errors.ts';
import { operatorZone } from '../core/local-time.ts';
import { once } from '../lib/async/mutex.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  createAgreements,
  createMcpOperations,
  type McpOperations,
} from '../features/mcp/server-agreement.ts';
import { createChatSettings, type ChatSettings } from '../tools/settings/chat-settings.ts';
import { openPlugins } from '../features/plugins/plugins.ts';
import { loadSkills } from '../skills/load-skills.ts';
import { skillRoots, writtenRoot } from '../skills/open-library.ts';
import { createWrittenSkills, readApprovals, type WrittenSkills } from '../skills/written-skills.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { AccessInForce } from './access/access-decisions.ts';
import { createForgetSomebody } from './forget-somebody.ts';
import { openFolders } from '../folders/open-folders.ts';
import { createKeptFiles, type KeptFiles } from '../runs/kept-files.ts';
import { operations, typedOperate, type Operate, type OperationName } from './operations.ts';
import type { OperateDeps, RunningParts } from './operation.ts';
import { storeFileOf } from './archive/archive-parts.ts';
import { terminalAccess } from './terminals/take-terminal.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** How many milliseconds to wait for answers to a person who is to be forgotten. */
const forgetWaitMs = 15_000;

type OperateParts = Readonly<{ store: Store; audit: Audit; clock: Clock; log: Log }> &
  Pick<People, 'users' | 'pairing' | 'groups' | 'welcome' | 'accessOf'> &
  Readonly<{
    chatSettings: ChatSettings;
    access(): AccessSettings;
    rules: StandingRules;
    approvals: SkillApprovals;
    mcp: McpOperations;
    capabilities: Pick<Capabilities, 'forget' | 'operations'>;
    files: Pick<KeptFiles, 'forget'>;
    inForce: OperateDeps['inForce'];
    zone: OperateDeps['zone'];
    /** What only a running bot can do. Undefined while no bot runs. */
    running?: RunningParts;
  }>;

/** Makes the function that runs operations. `isAlone`: nothing can be running for anybody. */
export function createOperate(
  parts: OperateParts,
  { isAlone = false }: Readonly<{ isAlone?: boolean }> = {},
): AnswerOperation {
  const { store, chatSettings, capabilities } = parts;
  const kept = { ...parts, settings: chatSettings, partners: createThreadPartners(store) };
  const forget = createForgetSomebody({ ...parts, kept, waitMs: isAlone ? 0 : forgetWaitMs });
  return operateOn({ ...parts, forget, capabilities: capabilities.operations });
}

/** Runs an operation by its name. Name and input may come from outside, so both are checked. */
function operateOn(deps: OperateDeps): AnswerOperation {
  return async (name, input, onProgress) => {
    if (!isOperation(name))
      throw new OperatorError(
        `This bot knows no operation \`${name}\`. If Skillet was updated, restart the bot.`,
      );
    const operation: AnyOperation = operations[name];
    if (!operation.offline && deps.running === undefined)
      throw new OperatorError(`\`${name}\` needs a running bot: run \`${skilletHere()} start\` first.`);
    const read = operation.input.safeParse(input);
    if (!read.success)
      throw new OperatorError(
        `\`${name}\` can't be done with this input. If Skillet was updated, restart the bot.\n${z.prettifyError(read.error)}`,
      );
    return operation.run(read.data as never, deps, onProgress);
  };
}

type AnyOperation = Readonly<{
  input: z.ZodType;
  offline: boolean;
  run(input: never, ...rest: [OperateDeps, Parameters<AnswerOperation>[2]]): Promise<unknown>;
}>;

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

const emptyStore = 'sqlite::memory:';

type OpenOperate = Readonly<{ operate: Operate; close(): Promise<void> }>;

/**
 * Runs operations on the store while no bot runs (Q9). Reading creates no store: one that does not exist is read as an
 * empty one. If a bot runs, operations throw OperatorError with its process id.
 */
export function openOperate(config: Config, log: Log): OpenOperate {
  const file = storeFileOf(config);
  const opened = new Map<string, Promise<OpenOperate>>();
  const operate: AnswerOperation = async (name, input, onProgress) => {
    const isAbsent = file !== undefined && !existsSync(file);
    const makesNone = isAbsent && isOperation(name) && operations[name].readOnly;
    const url = makesNone ? emptyStore : config.store.url;
    const on = opened.get(url) ?? openOperateOn(url, config, log);
    opened.set(url, on);
    return ((await on).operate as AnswerOperation)(name, input, onProgress);
  };
  return {
    operate: typedOperate(operate),
    async close() {
      for (const one of opened.values()) await (await one).close();
    },
  };
}

async function openOperateOn(url: string, config: Config, log: Log): Promise<OpenOperate> {
  const { dataDir } = config.bot;
  const clock = systemClock;
  const store = await openStore(url, { log });
  const place = auditPlace(config.store.url, dataDir);
  const audit = createAudit({ dataDir, place, keyed: store.keyed, clock, log });
  const access = () => accessSettings(config);
  const people = createPeople(
    { store, audit, clock },
    { access: () => terminalAccess(access()), isHere: (owner) => owner !== terminalOwnerId },
  );
  const base = createCapabilityBase({
    config: () => config,
    records: store.capabilities,
    env: process.env,
    clock,
    log,
  });
  const operate = createOperate(
    {
      ...{ store, audit, clock, log },
      ...people,
      chatSettings: createChatSettings({ store, migrations: people.migrations, log }),
      access,
      rules: createStandingRules({ stored: store.keyed('standing-rules'), audit }),
      approvals: createSkillApprovals({
        root: writtenRoot(config),
        written: createWrittenSkills(store),
        onChange: async () => undefined,
        log,
      }),
      mcp: createMcpOperations({
        agreements: createAgreements({ stored: store.keyed('mcp'), signals: store.signals }),
        states: () => ({}),
        redact: (text) => text,
        audit,
      }),
      capabilities: {
        forget: store.capabilities.forget,
        operations: createCapabilityOperations(base, audit),
      },
      files: createKeptFiles(await openFolders(config, store, log)),
      inForce: once(() => readAccess(config, createWrittenSkills(store), log)),
      zone: () => operatorZone(config),
    },
    // On PostgreSQL another process may be running.
    { isAlone: url.startsWith('sqlite:') },
  );
  return { operate: typedOperate(operate), close: store.close };
}

/** What access is decided by. Skills are read as a start would read them, but not what the sandbox lacks. */
async function readAccess(config: Config, written: WrittenSkills, log: Log): Promise<AccessInForce> {
  const plugins = await openPlugins(config, { clock: systemClock, log });
  plugins.close();
  const registry = await loadSkills(skillRoots(config, plugins.skillFolders), {
    strict: config.skills.strict,
    approvals: () => readApprovals(written, writtenRoot(config)),
  });
  return { config, access: terminalAccess(accessSettings(config)), rules: skillRules(config), registry };
}
