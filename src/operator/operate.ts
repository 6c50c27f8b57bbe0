import { allHashes, type AtRest } from '../core/feature.ts';
import type { OnProgress } from '../core/operation.ts';
import { allTools, featuresAtRest } from '../features/list.ts';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { createPeople } from '../access/create-people.ts';
import { auditPlace } from '../audit/audit-files.ts';
import { createAudit } from '../audit/create-audit.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';
import { accessSettings, skillRules } from '../config/runtime-config.ts';
import type { Config } from '../config/complete-config.ts';
import { createThreadPartners } from '../replies/threads.ts';
import { terminalOwnerId, type AccessSettings } from '../core/access-settings.ts';
import { OperatorError } from '../core/errors.ts';
import { operatorZone } from '../core/local-time.ts';
import { once } from '../lib/async/mutex.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createChatSettings } from '../tools/settings/chat-settings.ts';
import { openPlugins } from '../features/plugins/plugins.ts';
import { loadSkills } from '../skills/load-skills.ts';
import { skillRoots, writtenRoot } from '../skills/open-library.ts';
import { createWrittenSkills, readApprovals, type WrittenSkills } from '../skills/written-skills.ts';
import { openStore } from '../store/open-store.ts';
import type { AccessInForce } from './access/access-decisions.ts';
import { createExportPerson } from './export-person.ts';
import { createForgetSomebody } from './forget-somebody.ts';
import { openFolders } from '../folders/open-folders.ts';
import { createKeptFiles, type KeptFiles } from '../runs/kept-files.ts';
import { ownOperations, typedOperate, type Operate } from './operations.ts';
import type { OperatedBot } from './operate-deps.ts';
import { storeFileOf } from './archive/archive-parts.ts';
import { terminalAccess } from './terminals/take-terminal.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** How many milliseconds to wait for answers to a person who is to be forgotten. */
const forgetWaitMs = 15_000;

type OperateParts = OperatedBot &
  Readonly<{
    access(): AccessSettings;
    features: readonly AtRest[];
    files: KeptFiles;
  }>;

/** Makes the function that runs operations. `isAlone`: nothing can be running for anybody. */
export function createOperate(
  parts: OperateParts,
  { isAlone = false }: Readonly<{ isAlone?: boolean }> = {},
): Readonly<{ operate: AnswerOperation; rows: OperationRows }> {
  const { store, chatSettings, features } = parts;
  const kept = { ...parts, settings: chatSettings, partners: createThreadPartners(store) };
  const forget = createForgetSomebody({ ...parts, kept, waitMs: isAlone ? 0 : forgetWaitMs });
  const servers = async () =>
    (await Promise.all(features.map(async (feature) => feature.servers?.() ?? []))).flat();
  const own = ownOperations({ ...parts, forget, exportPerson: createExportPerson(parts), servers });
  const table = [own, ...features.map(({ operations = {} }) => operations)].flatMap((rows) =>
    Object.entries(rows),
  );
  const rows = new Map(table as [string, AnyOperation][]);
  return { operate: operateOn(rows, parts.running !== undefined), rows };
}

type OperationRows = ReadonlyMap<string, AnyOperation>;

type AnyOperation = Readonly<{
  input: z.ZodType;
  readOnly: boolean;
  offline: boolean;
  run(input: unknown, onProgress?: OnProgress): Promise<unknown>;
}>;

/** Runs an operation by its name. Name and input may come from outside, so both are checked. */
function operateOn(operations: OperationRows, isRunning: boolean): AnswerOperation {
  return async (name, input, onProgress) => {
    const operation = operations.get(name);
    if (operation === undefined)
      throw new OperatorError(
        `This bot knows no operation \`${name}\`. If Skillet was updated, restart the bot.`,
      );
    if (!operation.offline && !isRunning)
      throw new OperatorError(`\`${name}\` needs a running bot: run \`${skilletHere()} start\` first.`);
    const read = operation.input.safeParse(input);
    if (!read.success)
      throw new OperatorError(
        `\`${name}\` can't be done with this input. If Skillet was updated, restart the bot.\n${z.prettifyError(read.error)}`,
      );
    return operation.run(read.data, onProgress);
  };
}

const emptyStore = 'sqlite::memory:';

type OpenOperate = Readonly<{ operate: Operate; close(): Promise<void> }>;
type OperateOn = Readonly<{
  operate: AnswerOperation;
  rows: OperationRows;
  close(): Promise<void>;
}>;

/**
 * Runs operations on the store while no bot runs (Q9). Reading creates no store: one that does not exist is read as an
 * empty one. If a bot runs, operations throw OperatorError with its process id.
 */
export function openOperate(config: Config, log: Log): OpenOperate {
  const file = storeFileOf(config);
  const opened = new Map<string, Promise<OperateOn>>();
  const operate: AnswerOperation = async (name, input, onProgress) => {
    const isAbsent = file !== undefined && !existsSync(file);
    const makesNone = isAbsent && (await openOn(emptyStore)).rows.get(name)?.readOnly === true;
    const { operate: on } = await openOn(makesNone ? emptyStore : config.store.url);
    return on(name, input, onProgress);
  };

  function openOn(url: string): Promise<OperateOn> {
    const on = opened.get(url) ?? openOperateOn(url, config, log);
    opened.set(url, on);
    return on;
  }

  return {
    operate: typedOperate(operate),
    async close() {
      for (const one of opened.values()) await (await one).close();
    },
  };
}

async function openOperateOn(url: string, config: Config, log: Log): Promise<OperateOn> {
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
  const desk = {
    ...{ store, audit, clock, log, env: process.env, config: () => config },
    ...people,
    chatSettings: createChatSettings({ store, migrations: people.migrations, log }),
  };
  const features = featuresAtRest(desk);
  const operating = createOperate(
    {
      ...desk,
      access,
      features,
      definitionHashes: () => allHashes(features),
      files: createKeptFiles(await openFolders(config, store, log)),
      inForce: once(() => readAccess(config, createWrittenSkills(store), log)),
      zone: () => operatorZone(config),
    },
    // On PostgreSQL another process may be running.
    { isAlone: url.startsWith('sqlite:') },
  );
  return { ...operating, close: store.close };
}

/** What access is decided by. Skills are read as a start would read them, but not what the sandbox lacks. */
async function readAccess(config: Config, written: WrittenSkills, log: Log): Promise<AccessInForce> {
  const plugins = await openPlugins(config, { builtInTools: allTools(), clock: systemClock, log });
  plugins.close();
  const registry = await loadSkills(skillRoots(config, plugins.skillFolders), {
    strict: config.skills.strict,
    approvals: () => readApprovals(written, writtenRoot(config)),
  });
  return { config, access: terminalAccess(accessSettings(config)), rules: skillRules(config), registry };
}
