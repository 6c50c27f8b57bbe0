import { markdownLibrary } from '../lib/markdown/library.ts';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { createModels } from '../agent/models/create-models.ts';
import type { Config } from '../config/complete-config.ts';
import { watchConfig } from '../config/load-config.ts';
import type { Channel } from '../core/channel.ts';
import { resolveModel } from '../core/model.ts';
import { systemClock } from '../lib/clock.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { SandboxReach } from '../sandbox/open-sandbox.ts';
import { createWrittenSkills } from '../skills/written-skills.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { auditPlace } from '../audit/audit-files.ts';
import { beginAudit, createAudit, lostEnd, refuseLostStore } from '../audit/create-audit.ts';
import {
  controlPath,
  serveControl,
  type AnswerOperation,
  type Control,
} from '../channels/terminal/control.ts';
import { createAnsweredThreads } from '../replies/threads.ts';
import type { Bot } from './bot.ts';
import { createBot } from './create-bot.ts';
import type { ChannelNeeds } from './open-channels.ts';
import { openHealth } from '../operator/health/open-health.ts';
import { noTracing, type Tracing } from '../operator/tracing/tracing.ts';
import { patientKeyed } from '../store/patient-keyed.ts';
import { openLibrary, openSkillSandbox } from '../skills/open-library.ts';
import { ownDataDir } from '../operator/own-data-dir.ts';
import { openFolders } from '../folders/open-folders.ts';
import { openPlugins } from '../features/plugins/plugins.ts';
import { allCommands, allTools } from '../features/list.ts';
import { chatFolder, nameOfChat } from '../tools/built-in/run-folders.ts';
import { saveForTerminal } from '../channels/terminal/peer.ts';
import { createTakeTerminal, terminalAccess, type SpentBy } from '../operator/terminals/take-terminal.ts';
import { createThreadPartners } from '../replies/threads.ts';
import { createTerminals, type Terminals } from '../operator/terminals/terminals.ts';
import { onAbort } from '../lib/async/on-abort.ts';

export type OpenBot = Bot &
  Readonly<{
    sit: Terminals['sit'];
    spentBy: SpentBy;
    /** Names of commands and skills, for the completion of `/`. */
    names(): readonly string[];
    close(): Promise<void>;
  }>;

/** Opens everything that a bot needs. Nothing runs before `start`. If a step fails, what is open is closed. */
export async function openBot(options: {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  channels(needs: ChannelNeeds): Promise<readonly Channel[]>;
  mostTries?: number;
  listen?: string;
  reach?: SandboxReach;
  /** Until this aborts, the bot waits for a missing database. */
  until?: AbortSignal;
  log: Log;
}): Promise<OpenBot> {
  const { config, env, mostTries = 3, listen, reach, until, log } = options;
  const clock = systemClock;
  await using opening = new AsyncDisposableStack();
  const home = ownDataDir(config.bot.dataDir);
  opening.defer(home.release);
  const killed: { lost?: string }[] = [];
  const store = await openStore(config.store.url, {
    log,
    clock,
    until,
    onKilled: (lost) => killed.push({ lost }),
  });
  opening.defer(store.close);
  const health = await openHealth({
    listen,
    store,
    dataProblem: home.problem,
    clock,
    log,
  });
  const keyed = patientKeyed(health.store.keyed, health.ofStore);
  // A store that goes away from here on is waited for, like one that was away already (Q11).
  const stopListening = until === undefined ? undefined : onAbort(until, health.ofStore.stop);
  // A store in memory is always empty, so it can't be lost.
  if (config.store.url !== 'sqlite::memory:') await refuseLostStore(config.bot.dataDir, keyed('audit'));
  for (const { lost } of killed) {
    const reason = lost ?? (await lostEnd(config.bot.dataDir, keyed('audit')));
    if (reason !== undefined) health.ofStore.damaged(reason);
  }
  const folders = await openFolders(config, health.store, log);
  const tracing = await openTraces(env, log);
  opening.defer(async () => tracing?.close());
  const skillSandbox = await openSkillSandbox(config, log, reach);
  opening.defer(() => skillSandbox.sandbox.close());
  const plugins = await openPlugins(config, { builtInTools: allTools(), clock, log });
  opening.defer(plugins.close);
  const written = createWrittenSkills(health.store);
  const library = await health.ofStore.patient(
    () => openLibrary(config, plugins.skillFolders, written, log),
    { repeatable: true },
  );
  stopListening?.();
  opening.defer(library.close);
  const answered = createAnsweredThreads(store);
  const channels = await options.channels({
    hasAnswered: async (conversation) =>
      (await store.transcripts.answered(conversationKey(conversation))) || answered.has(conversation),
    partners: createThreadPartners(store),
    skillNames: () => library.current().names,
    isAtWork: async (conversation) => (await store.inbox.waitingIn(conversationKey(conversation))).length > 0,
    lead: store.lead,
    reserve: isShared(config) ? sharedLimits(store, log) : undefined,
    log,
    clock,
  });
  const built: { bot?: Bot } = {};
  const { model: traceModel } = tracing ?? noTracing;
  const terminals = createTerminals({
    name: terminalName(config),
    store: health.store,
    cancel: async (queue) => (await built.bot?.cancel(queue)) === true,
    async whyUnheard(message) {
      const decision = await built.bot?.users.decide(message);
      return decision === undefined || decision.allowed ? undefined : decision.reason;
    },
    saveFile(conversation, file) {
      const chat = chatFolder(folders.root, conversation);
      return folders.use([nameOfChat(chat)], 'changes', () => saveForTerminal(chat, file));
    },
    clock,
  });
  const bot = createBot({
    config,
    folders,
    library,
    skillSandbox,
    plugins,
    channels: [...channels.map(health.watchChannel), terminals.channel],
    makeModels: ({ models }) =>
      createModels(models, {
        log,
        clock,
        onHop: (hop) => health.meter.count('model_fallbacks', hop),
        measure: (model) => traceModel(health.measureModel(model), resolveModel(models, model.alias)),
      }),
    terminals: {
      changeAccess: (access) => terminalAccess(access, terminals.channel.name),
      isHere: (owner) => !owner.startsWith('terminal:') || terminals.isHere(owner),
      canAsk: (conversation) => conversation.channel !== 'terminal' || terminals.isWatched(conversation),
      mostTries: (key) => (terminals.isImpatient(key) ? 1 : mostTries),
      onDead: terminals.givenUp,
      onFailed: terminals.failed,
    },
    host: {
      store: health.store,
      health: { ...health.ofStore, readiness: health.readiness },
      audit: createAudit({
        dataDir: config.bot.dataDir,
        place: auditPlace(config.store.url, config.bot.dataDir),
        keyed,
        clock,
        log,
      }),
      meter: health.meter,
      tracing,
      env,
      clock,
      log,
    },
  });
  built.bot = bot;
  const commands = allCommands().names;
  const names = (): readonly string[] => [...commands, ...library.current().names];
  const spentBy: SpentBy = ({ user, as }) =>
    bot.spent(`terminal:${user}`, { channel: terminals.channel.name, chat: as === 'private' ? user : as });
  const takeTerminal = createTakeTerminal({
    terminals,
    names,
    spent: spentBy,
    drop: async (key) => void (await bot.operate('inbox drop', key)),
  });
  // Nothing else keeps the process alive while the bot waits.
  const alive = setInterval(() => undefined, 60_000);
  opening.defer(() => clearInterval(alive));
  // This comes before anything is recorded, because a backup takes store and key first and the lines last.
  await beginAudit(
    config.bot.dataDir,
    auditPlace(config.store.url, config.bot.dataDir),
    keyed('audit'),
  ).catch((error: unknown) => log.error({ err: error }, 'the audit cannot record anything'));
  const control = await openControl(config, { operate: bot.operate as AnswerOperation, takeTerminal, log });
  let serving: ReturnType<typeof health.serve> | undefined;
  opening.defer(async () => {
    await Promise.all([control?.close(), bot.stop()]);
    await serving?.then(
      (server) => server?.close(),
      () => undefined,
    );
  });
  const watch = watchConfig(config, { env, onChange: bot.reconfigure });
  opening.defer(watch.stop);
  const opened = opening.move();
  // If the bot is stopped during its start, the start fails, and that closes it, too.
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= opened.disposeAsync());
  return {
    ...bot,
    sit: terminals.sit,
    spentBy,
    names,
    async start() {
      try {
        serving = health.serve(bot);
        await serving;
        await bot.start();
        // Loads the library before the first formatted answer needs it.
        setImmediate(markdownLibrary);
      } catch (error) {
        await close();
        throw error;
      }
    },
    close,
  };
}

/** Opens tracing, which is loaded only if the environment names a collector. */
async function openTraces(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<Tracing | undefined> {
  const named = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  if (named === '' || env['OTEL_SDK_DISABLED'] === 'true') return undefined;
  const { openTracing } = await import('../operator/tracing/open-tracing.ts');
  return openTracing(env, { clock: systemClock, log });
}

/** Opens the control socket. The bot works without it. */
async function openControl(
  config: Config,
  options: Omit<Parameters<typeof serveControl>[0], 'path'>,
): Promise<Control | undefined> {
  const { log } = options;
  const socket = controlPath(config.bot.dataDir);
  try {
    return await serveControl({ path: socket, ...options });
  } catch (error) {
    log.warn(
      { err: error, path: socket },
      'the control socket cannot be opened (its path may be too long): `pair`, `inbox`, `backup` and `forget` work only while the bot is stopped, and no terminal can join it',
    );
    return undefined;
  }
}

/** The name of the terminal channel. Each process on a shared store has its own (Q9). */
function terminalName({ store, bot }: Config): string {
  if (store.url.startsWith('sqlite:')) return 'terminal';
  return `terminal-${createHash('sha256').update(path.resolve(bot.dataDir)).digest('hex').slice(0, 8)}`;
}

function isShared({ store }: Config): boolean {
  return !store.url.startsWith('sqlite:');
}

/** Shares limits with other processes. If the store can't tell, each process limits itself (H8). */
function sharedLimits({ reserve }: Store, log: Log): Store['reserve'] {
  return async (limits) => {
    try {
      return await reserve(limits);
    } catch (error) {
      log.warn({ err: error }, 'could not share limits with the other processes');
      return 0;
    }
  };
}
