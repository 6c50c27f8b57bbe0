import { accessSettings } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { createAgent } from './create-agent.ts';
import { createApprovals } from './approvals.ts';
import type { Bot, BotParts } from './bot.ts';
import { createBudgets } from './budgets.ts';
import { cleanAudit, cleanChannel, cleanOperate, cleanStore } from './clean-doors.ts';
import { createChatSettings } from './chat-settings.ts';
import { createCapabilities } from './create-capabilities.ts';
import { createCommands } from './commands.ts';
import { createDelivery } from './deliver.ts';
import { createDoor } from './create-door.ts';
import { createForgetSomebody } from './forget-somebody.ts';
import { createFollowSkills } from './follow-skills.ts';
import { haltWork } from './halt-work.ts';
import { createHandOver } from './hand-over.ts';
import { createHandleItem } from './handle-item.ts';
import { keepTidy } from './keep-tidy.ts';
import { createKeptFiles } from './kept-files.ts';
import { createListTools } from './list-tools.ts';
import { createLanes } from './lanes.ts';
import { createMcp } from './create-mcp.ts';
import { makeLive } from './live.ts';
import { measureTurns } from './measure-work.ts';
import { createMovedChats } from './moved-chats.ts';
import { createOperate } from './operate.ts';
import { outageNotice } from './outage-notice.ts';
import { createOutsideTools } from './outside-tools.ts';
import { createPairing } from './pairing.ts';
import { createPeople } from './people.ts';
import { createPluginCalls } from './plugin-calls.ts';
import { createReconfigure } from './reconfigure.ts';
import { createSettings } from './create-settings.ts';
import { createShowWork } from './show-work.ts';
import { createSkillAuthoring } from './skill-authoring.ts';
import { createStandingRules } from './standing-rules.ts';
import { createUseOf } from './use-of.ts';
import { createVoice } from './voice.ts';
import { createWebTools } from './create-web-tools.ts';
import { watchSources } from './watch-sources.ts';
import { createWelcome } from './welcome.ts';

/** Sends under way get so long to end; most wait for nothing but the platform's pace. */
const deliveryGraceMs = 2_000;
/** What is being answered for a person who is to be forgotten gets so long to stop. */
const forgetWaitMs = 15_000;

/** The one place that puts the bot together. */
export function createBot(parts: BotParts): Bot {
  const { library, health, meter, clock, log, plugins, env } = parts;
  // Every door by which text leaves: what stands behind them is clean (S2).
  const clean = () => live.redaction;
  const store = cleanStore(parts.store, clean);
  const audit = cleanAudit(parts.audit, clean);
  const channels = new Map(parts.channels.map((channel) => [channel.name, cleanChannel(channel, clean)]));
  const moved = createMovedChats({ stored: store.keyed('moved'), signals: store.signals, clock });
  const chatSettings = createChatSettings({ store, moved, log });
  const liveOf = (config: Config) =>
    makeLive(config, parts.makeModels, parts.changeAccess, chatSettings.secrets, parts.env);
  let live = liveOf(parts.config);
  const current = () => live;

  const people = createPeople({
    stored: store.keyed('people'),
    access: () => live.access,
    moved,
    ...(parts.isHere === undefined ? {} : { isHere: parts.isHere }),
  });
  const pairing = createPairing({ stored: store.keyed('pairing'), people, audit, clock });
  const useOf = createUseOf(moved);
  const voice = createVoice({ store, channels, owners: people.owners, redact: () => live.redact, log });
  const welcome = createWelcome(store);
  const otherTools = (): readonly string[] => outside.names();
  const authoring = createSkillAuthoring({
    store,
    live: current,
    library,
    people,
    voice,
    otherTools,
    clock,
    log,
  });
  const { outgoing, ...files } = createKeptFiles(parts.config.bot.workspace);
  const handOver = createHandOver({ store, outgoing, channels, voice, clean });
  const delivery = createDelivery({
    outbox: store.outbox,
    channels,
    currentPlace: moved.current,
    onMoved: async (from, chat) => {
      await moved.remember(`${from.channel}:${from.chat}`, `${from.channel}:${chat}`);
    },
    outgoing,
    clock,
    log,
  });
  const rules = createStandingRules({ stored: store.keyed('standing-rules'), audit });
  const approvals = createApprovals({
    store,
    voice,
    approvers: () => live.config.policy.approvers,
    rules,
    audit,
    canAsk: parts.canAsk ?? (() => true),
    clock,
    log,
  });
  const basics = { store, channels, voice, audit, clock, log };
  const capabilities = createCapabilities({ live: current, ...basics, plugins, env });
  const budgets = createBudgets({ config: () => live.config, store, clock });
  const { sandbox } = parts.skillSandbox;
  const ofPlugins = createPluginCalls({ ...basics, live: current, library, sandbox, moved, budgets });
  const mcp = createMcp({ live: current, store, voice, audit, env, clock, log });
  const web = createWebTools({ config: () => live.config, clock, log });
  const outside = createOutsideTools({
    sources: [plugins.source(() => live.config, ofPlugins), mcp.tools],
    isOwner: people.isOwner,
    useOf,
    log,
  });
  const settings = createSettings({ ...basics, live: current, chats: chatSettings, web, outside, people });
  const listTools = createListTools({ live: current, library, useOf, web, outside, sandbox });
  const commands = createCommands({
    live: current,
    registry: library.current,
    rescan: library.rescan,
    store,
    people,
    useOf,
    approvals,
    budgets,
    capabilities,
    channels,
    notices: () => plugins.diagnostics.map(({ message }) => live.redact(message)),
    settings,
    listTools,
    voice,
  });
  const agent = createAgent({
    ...basics,
    live: current,
    web,
    outside,
    settings,
    capabilities,
    moved,
    handOver,
    library,
    ...parts.skillSandbox,
    useOf,
    authoring,
    approvals,
    rules,
    budgets,
    meter,
  });
  const showWork = createShowWork({ channels, outbox: store.outbox, clock, log });
  const item = createHandleItem({
    ...basics,
    people,
    commands,
    moved,
    ...agent,
    budgets,
    capabilities,
    useOf,
    showWork,
  });
  const lanes = createLanes({
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
    ...(parts.mostTries === undefined ? {} : { mostTries: parts.mostTries }),
    clock,
    log,
  });
  const admit = createDoor({
    ...basics,
    people,
    pairing,
    welcome,
    authoring,
    approvals,
    capabilities,
    commands,
    settings,
    moved,
  });
  const forget = createForgetSomebody({
    store,
    people,
    pairing,
    rules,
    capabilities,
    settings: chatSettings,
    files,
    access: () => accessSettings(live.config),
    audit,
    waitMs: forgetWaitMs,
    clock,
    log,
  });
  const stopping = new AbortController();
  const chore = { store, clock, log, signal: stopping.signal };
  let sourcesWatched: Promise<void> | undefined;
  let attended: Promise<void> | undefined;

  const skills = createFollowSkills({ library, live: current, channels, signals: store.signals, audit, log });
  const notTold = (error: unknown): void => log.error({ err: error }, 'the owners could not be told');

  return {
    people,
    pairing,
    redact: (text) => live.redact(text),
    operate: cleanOperate(
      createOperate({
        store,
        people,
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
        const { key, markdown } = outageNotice(outage);
        voice.tellOwners(key, markdown).catch(notTold);
      });
      await settings.load();
      await mcp.start();
      capabilities.report();
      attended = capabilities.attend(stopping.signal);
      lanes.start();
      delivery.start();
      await Promise.all([...channels.values()].map((channel) => channel.start(admit)));
      library.watch(skills.changed);
      void keepTidy({ ...chore, files, days: () => live.config.bot.retentionDays });
      sourcesWatched = watchSources({ ...chore, config: () => live.config, voice, env });
      await skills.show();
    },
    async stop() {
      stopping.abort();
      skills.stop();
      await Promise.all([...channels.values()].map((channel) => channel.stop()));
      const ended = lanes.stop(live.config.bot.shutdownSeconds * 1_000);
      health.stop();
      await ended;
      await Promise.all([sourcesWatched, attended, delivery.stop(deliveryGraceMs), mcp.stop()]);
      await audit.settled();
    },
    async cancel(lane) {
      const waiting = await store.inbox.waitingIn(lane);
      const running = waiting.filter((item) => item.lane === lane && item.takenAt !== undefined);
      await haltWork(store, { items: running.map(({ key }) => key) });
    },
    async idle() {
      await lanes.idle();
      await delivery.idle();
    },
    toolsSeen: mcp.seen,
    reconfigure: createReconfigure({
      config: () => live.config,
      apply(config) {
        live = liveOf(config);
        mcp.follow();
        capabilities.report();
        skills.changed(library.current());
      },
      voice,
      audit,
      clock,
      log,
    }),
  };
}
