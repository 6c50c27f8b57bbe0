import { accessSettings } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { createAgent, createToolbox } from './create-agent.ts';
import { createAnsweredThreads } from '../conversations/answered-threads.ts';
import { createApprovals } from '../approvals/approvals.ts';
import type { Bot, BotParts } from './bot.ts';
import { createBudgets } from '../limits/budgets.ts';
import { cleanAudit, cleanChannel, cleanModels, cleanOperate, cleanStore } from './redacting-doors.ts';
import { createChatAgent } from '../settings/chat-agent.ts';
import { createChatSettings } from '../settings/chat-settings.ts';
import { createCapabilities } from '../capabilities/create-capabilities.ts';
import type { WriteCommand } from '../core/channel.ts';
import { createCommands } from '../conversations/commands.ts';
import { createDelivery } from '../replies/deliver.ts';
import { createEventHandler } from '../conversations/intake/create-event-handler.ts';
import { createForgetSomebody } from '../operator/forget-somebody.ts';
import { createRefreshMenus } from '../conversations/refresh-menus.ts';
import { cancelWork } from '../runs/tasks.ts';
import { createDeliverArtifacts } from '../replies/artifacts.ts';
import { createHandleItem } from '../conversations/handle-item.ts';
import { createQuestions } from '../runs/questions.ts';
import { createJoinTurn } from '../conversations/join-turn.ts';
import { createJudgeMessage } from '../conversations/judge-message.ts';
import { startRetention, createKeptFiles } from '../operator/kept-files.ts';
import { createLargeTables } from '../replies/large-tables.ts';
import { createInboxWorker } from '../conversations/inbox-worker.ts';
import { createRuntimeConfig } from '../config/runtime-config.ts';
import { measureTurns } from '../operator/health/measure-work.ts';
import { createModelNotices } from './model-notices.ts';
import { createChatMigrations } from '../access/chat-migrations.ts';
import { createOperate } from '../operator/operate.ts';
import { outageNotice } from '../operator/health/store-health.ts';
import { createGroups } from '../conversations/intake/groups.ts';
import { createOverview } from '../conversations/overview.ts';
import { createPairing, createWelcome } from '../access/pairing.ts';
import { createUsers } from '../access/users.ts';
import { createReconfigure } from '../operator/reconfigure.ts';
import { createShowProgress } from '../conversations/progress.ts';
import { createSkillAuthoring } from '../authoring/skill-authoring.ts';
import { createStandingRules } from '../approvals/standing-rules.ts';
import { createAccessContext } from '../access/decide-skill.ts';
import { systemZone } from '../core/local-time.ts';
import { createReplies } from '../replies/replies.ts';
import { watchSources } from '../skills/watch-sources.ts';
import { shutdownReason } from '../lib/async/shutdown.ts';

/** Sends under way get so long to end; most wait for nothing but the platform's pace. */
const deliveryGraceMs = 2_000;
/** What is being answered for a person who is to be forgotten gets so long to stop. */
const forgetWaitMs = 15_000;

/** The one place that puts the bot together. */
export function createBot(parts: BotParts): Bot {
  const { library, health, meter, clock, log, plugins, env } = parts;
  // Every door by which text leaves: what stands behind them is clean (S2).
  const clean = () => runtime.redaction;
  const store = cleanStore(parts.store, clean);
  const audit = cleanAudit(parts.audit, clean);
  const channels = new Map(parts.channels.map((channel) => [channel.name, cleanChannel(channel, clean)]));
  const migrations = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const chatSettings = createChatSettings({ store, migrations, log });
  const notTold = (error: unknown): void => log.error({ err: error }, 'the owners could not be told');
  const modelNotices = createModelNotices({
    tell: (...told) => replies.tellOwners(...told),
    config: () => runtime.config,
    clock,
    onFault: notTold,
  });
  const liveOf = (config: Config) =>
    createRuntimeConfig(
      config,
      (of, redaction) => cleanModels(modelNotices(parts.makeModels(of)), () => redaction),
      parts.changeAccess,
      chatSettings.secrets,
      parts.env,
    );
  let runtime = liveOf(parts.config);
  const current = () => runtime;

  const users = createUsers({
    stored: store.keyed('people'),
    access: () => runtime.access,
    language: () => runtime.config.bot.language,
    migrations,
    isHere: parts.isHere,
  });
  const pairing = createPairing({ stored: store.keyed('pairing'), users, audit, clock });
  const groups = createGroups({ stored: store.keyed('groups'), users, migrations, audit, clock });
  const replies = createReplies({ ...users, store, channels, redact: () => runtime.redact, log });
  const stopping = new AbortController();
  const writeCommand: WriteCommand = (conversation, name, args) =>
    channels.get(conversation.channel)?.command(conversation, name, args) ?? `/${name}`;
  // What most parts stand on; each names in its options what of it is its business.
  const deps = {
    runtime: current,
    store,
    channels,
    writeCommand,
    answered: createAnsweredThreads(store),
    library,
    users,
    migrations,
    accessOf: createAccessContext(migrations),
    replies,
    audit,
    env,
    stopping: stopping.signal,
    clock,
    log,
  };
  const welcome = createWelcome(store);
  const otherTools = (): readonly string[] => outside.names();
  const authoring = createSkillAuthoring({ ...deps, otherTools });
  const { outgoing, received, ...files } = createKeptFiles(parts.config.bot.workspace);
  const deliverArtifacts = createDeliverArtifacts({ ...deps, outgoing, clean });
  const delivery = createDelivery({
    ...deps,
    outbox: store.outbox,
    currentPlace: migrations.current,
    onMoved: async (from, chat) => {
      await migrations.remember(`${from.channel}:${from.chat}`, `${from.channel}:${chat}`);
    },
    outgoing,
  });
  const rules = createStandingRules({ stored: store.keyed('standing-rules'), audit });
  const approvals = createApprovals({
    ...deps,
    approvers: () => runtime.config.policy.approvers,
    rules,
    canAsk: parts.canAsk ?? (() => true),
  });
  const capabilities = createCapabilities({ ...deps, plugins });
  const budgets = createBudgets({ config: () => runtime.config, store, clock });
  const { sandbox } = parts.skillSandbox;
  const toolbox = createToolbox({ ...deps, sandbox, plugins, budgets, chats: chatSettings });
  const { outside, mcp, settings } = toolbox;
  const chatAgent = createChatAgent({ ...deps, chats: chatSettings });
  const overview = createOverview({ ...deps, chatAgent, budgets, plugins, registry: library.current });
  const commands = createCommands({
    ...deps,
    ...toolbox,
    registry: library.current,
    rescan: library.rescan,
    approvals,
    capabilities,
    overview,
    chatAgent,
  });
  const agent = createAgent({
    host: { runtime: current, store, migrations, audit, clock, log },
    users,
    accessOf: deps.accessOf,
    skills: { ...parts.skillSandbox, library, authoring, capabilities },
    tools: { ...toolbox, capabilities, deliverArtifacts },
    limits: { approvals, rules, budgets },
    chats: { agent: chatAgent, channels, received, writeCommand },
    process: { meter, env, stopping: stopping.signal },
  });
  const showWork = createShowProgress({ ...deps, outbox: store.outbox });
  const judge = createJudgeMessage({ ...deps, ...agent, commands, budgets });
  const questions = createQuestions({ store, clock });
  const item = createHandleItem({
    ...deps,
    ...agent,
    commands,
    judge,
    joinTurn: createJoinTurn({ ...deps, judge, questions }),
    capabilities,
    showWork,
    sendLargeTables: createLargeTables({ ...deps, deliverArtifacts, redact: () => runtime.redact }),
    onFailed: (key) => parts.onFailed?.(key),
  });
  const inboxWorker = createInboxWorker({
    inbox: store.inbox,
    signals: store.signals,
    handle: measureTurns(item.handle, meter, clock),
    progressed: item.progressed,
    async onDead(dead, error) {
      await item.onDead(dead, error);
      parts.onSetAside?.(dead.key);
    },
    channels: [...channels.keys()],
    concurrency: parts.config.agent.concurrency,
    mostTries: parts.mostTries,
    clock,
    log,
  });
  const admit = createEventHandler({
    ...deps,
    pairing,
    groups,
    welcome,
    authoring,
    approvals,
    capabilities,
    commands,
    judge,
    settings,
    overview,
    language: () => runtime.config.bot.language,
  });
  const forget = createForgetSomebody({
    ...deps,
    pairing,
    rules,
    capabilities,
    settings: chatSettings,
    files,
    access: () => accessSettings(runtime.config),
    waitMs: forgetWaitMs,
  });
  const chore = { store, clock, log, signal: stopping.signal };
  let chores: readonly Promise<void>[] = [];

  const skills = createRefreshMenus({ ...deps, signals: store.signals });

  return {
    users,
    pairing,
    redact: (text) => runtime.redact(text),
    operate: cleanOperate(
      createOperate({
        groups,
        store,
        users,
        pairing,
        welcome,
        forget,
        approvals: authoring.approvals,
        rules,
        mcp: mcp.operations,
        capabilities: capabilities.operations,
        audit,
      }),
      clean,
    ),
    async start() {
      health.start((outage) => {
        const { key, words } = outageNotice(outage, runtime.config.bot.timezone ?? systemZone());
        replies.tellOwners(key, words).catch(notTold);
      });
      await settings.load();
      await mcp.start();
      capabilities.report();
      stopping.signal.throwIfAborted();
      chores = [capabilities.attend(stopping.signal), approvals.attend()];
      inboxWorker.start();
      delivery.start();
      await Promise.all([...channels.values()].map((channel) => channel.start(admit)));
      stopping.signal.throwIfAborted();
      library.watch(skills.changed);
      chores = [
        ...chores,
        startRetention({ ...chore, files, days: () => runtime.config.bot.retentionDays }),
        watchSources({ ...chore, config: () => runtime.config, replies, env }),
      ];
      await skills.show();
    },
    async stop() {
      // First: what no longer waits would be taken up again.
      const ended = inboxWorker.stop(runtime.config.bot.shutdownSeconds * 1_000);
      stopping.abort(shutdownReason());
      skills.stop();
      await Promise.all([...channels.values()].map((channel) => channel.stop()));
      health.stop();
      await ended;
      await Promise.all([...chores, delivery.stop(deliveryGraceMs), mcp.stop()]);
      await audit.settled();
    },
    async cancel(lane) {
      const waiting = await store.inbox.waitingIn(lane);
      const running = waiting.filter((item) => item.lane === lane && item.takenAt !== undefined);
      const { stopping } = await cancelWork(store, { items: running.map(({ key }) => key) });
      return stopping.length > 0;
    },
    async idle() {
      await inboxWorker.idle();
      await delivery.idle();
    },
    toolsSeen: mcp.seen,
    reconfigure: createReconfigure({
      config: () => runtime.config,
      apply(config) {
        runtime = liveOf(config);
        mcp.follow();
        capabilities.report();
        skills.changed(library.current());
      },
      replies,
      audit,
      clock,
      log,
    }),
  };
}
