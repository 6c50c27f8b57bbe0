import { accessSettings } from '../config/runtime-config.ts';
import { createRefreshMenus } from '../conversations/refresh-menus.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';
import type { Channel, OnEvent } from '../core/channel.ts';
import { operatorZone } from '../core/local-time.ts';
import { shutdownReason } from '../lib/async/shutdown.ts';
import { createHooks, type Hooks } from '../hooks/receive-hook.ts';
import { damageNotice, outageNotice } from '../operator/health/store-health.ts';
import { startRetention } from '../operator/kept-files.ts';
import { createOperate } from '../operator/operate.ts';
import { typedOperate } from '../operator/operations.ts';
import { createReconfigure } from '../operator/reconfigure.ts';
import { noTracing, type Tracing } from '../operator/tracing/tracing.ts';
import { createDelivery } from '../replies/deliver.ts';
import { followConfig } from '../routines/config-routines.ts';
import { watchRoutines } from '../routines/watch-routines.ts';
import { cancelWork } from '../runs/tasks.ts';
import { watchSources } from '../skills/watch-sources.ts';
import { createAccessInForce } from './access-in-force.ts';
import type { Bot, BotParts } from './bot.ts';
import { createBase, type Base } from './create-base.ts';
import { createConversations } from './create-conversations.ts';
import { createFeatures, type Features } from './create-features.ts';
import { cleanOperate } from './redacting-doors.ts';

const deliveryGraceMs = 2_000;

export function createBot(parts: BotParts): Bot {
  const base = createBase(parts);
  const features = createFeatures(base, parts);
  const { onEvent, worker } = createConversations(base, features, parts);
  const { host, people, chat } = base;
  const { runtime, store, audit } = host;
  const { mcp } = features.tools;
  const { tracing = noTracing } = parts.host;
  const routines = watchRoutines(host);
  const delivery = deliveryOf(base, features, tracing);
  const hooks = hooksOf(base, parts);
  const menus = createRefreshMenus({ ...host, ...chat, library: parts.library, signals: store.signals });
  const { signal } = base.process.stopping;
  let chores: readonly Promise<void>[] = [];

  return {
    users: people.users,
    pairing: people.pairing,
    redact: (text) => runtime().redact(text),
    operate: operateOf(base, features, parts),
    receiveHook: hooks.receive,
    async start() {
      startHealth(base, parts);
      await parts.host.health.patient(features.tools.settings.load, { repeatable: true });
      await mcp.start();
      features.capabilities.report();
      signal.throwIfAborted();
      chores = [features.capabilities.attend(signal), features.approvals.attend()];
      worker.start();
      delivery.start();
      await followConfig(runtime().config, host);
      routines.start();
      await Promise.all(
        [...chat.channels.values()].map((channel) => channel.start(whenKnown(base, channel, onEvent))),
      );
      signal.throwIfAborted();
      hooks.start();
      parts.library.watch(menus.changed);
      chores = [...chores, ...startChores(base, features)];
      await menus.show();
    },
    async stop() {
      // The worker stops first. If `stopping` had aborted before, items would stop waiting and the worker would take
      // them again.
      const ended = worker.stop(runtime().config.bot.shutdownSeconds * 1_000);
      base.process.stopping.abort(shutdownReason());
      menus.stop();
      await Promise.all([
        hooks.stop(),
        routines.stop(),
        ...[...chat.channels.values()].map((channel) => channel.stop()),
      ]);
      parts.host.health.stop();
      await ended;
      await Promise.all([...chores, delivery.stop(deliveryGraceMs), mcp.stop()]);
      await audit.settled();
    },
    async cancel(queue) {
      const waiting = await store.inbox.waitingIn(queue);
      const running = waiting.filter((item) => item.queue === queue && item.takenAt !== undefined);
      const { stopping } = await cancelWork(store, { items: running.map(({ key }) => key) });
      return stopping.length > 0;
    },
    async idle() {
      await routines.idle();
      await worker.idle();
      await delivery.idle();
    },
    servers: mcp.states,
    toolsSeen: mcp.seen,
    async spent(sender, place) {
      const { models } = runtime();
      const { model } = await features.chatAgent.of(place);
      const isNone = models.offline && model === 'default';
      return { model: isNone ? '' : models.get(model).alias, ...(await features.budgets.today(sender)) };
    },
    reconfigure: createReconfigure({
      ...host,
      replies: chat.replies,
      config: base.written,
      apply(config) {
        base.apply(config);
        mcp.follow();
        features.capabilities.report();
        followConfig(runtime().config, host).catch((error: unknown) =>
          host.log.error({ err: error }, 'the routines of the config could not be stored'),
        );
        menus.changed(parts.library.current());
      },
    }),
  };
}

function deliveryOf(
  { host, chat }: Base,
  { files }: Features,
  tracing: Tracing,
): ReturnType<typeof createDelivery> {
  const { migrations } = host;
  return createDelivery({
    ...host,
    ...chat,
    outbox: tracing.outbox(host.store.outbox),
    currentPlace: migrations.current,
    onMoved: async (from, to) => {
      await migrations.remember(`${from.channel}:${from.chat}`, `${from.channel}:${to}`);
    },
    outgoing: files.outgoing,
  });
}

function operateOf(base: Base, features: Features, parts: BotParts): Bot['operate'] {
  const { host, people, chat, clean } = base;
  const { health } = parts.host;
  const { authoring, approvals, rules, capabilities, tools, files } = features;
  const operate = createOperate({
    host,
    people: { ...people, settings: chat.settings },
    access: () => accessSettings(host.runtime().config),
    rules,
    approvals: authoring.approvals,
    mcp: tools.mcp.operations,
    capabilities,
    files,
    inForce: createAccessInForce(base, parts),
    zone: () => operatorZone(host.runtime().config),
    running: {
      readiness: health.readiness,
      answer: approvals.answer,
      plugins: () => parts.plugins.diagnostics.map(({ message }) => message),
    },
  });
  // Work waits for the store, but an operator does not (Q11). A backup is made even in an outage, because it can save
  // what a removed file still has.
  const inTime: AnswerOperation = (name, ...rest) =>
    name === 'backup' ? operate(name, ...rest) : health.admitting(() => operate(name, ...rest));
  return typedOperate(cleanOperate(inTime, clean));
}

function hooksOf(base: Base, { host: { meter } }: BotParts): Hooks {
  const { host, people, chat } = base;
  return createHooks({
    host: { ...host, meter },
    hooks: () => host.runtime().config.hooks,
    bodies: host.store.keyed('hooks'),
    users: { ...people.users, known: () => knowMembers(base) },
    channels: chat.channels,
    replies: chat.replies,
  });
}

function startHealth({ host, chat }: Base, parts: BotParts): void {
  const tell = ({ key, words }: ReturnType<typeof outageNotice>): void =>
    void chat.replies
      .tellOwners(key, words)
      .catch((error: unknown) => host.log.error({ err: error }, 'the owners could not be told'));
  parts.host.health.start(
    (outage) => tell(outageNotice(outage, operatorZone(host.runtime().config))),
    (damage) => tell(damageNotice(damage)),
  );
}

/** The members of user groups have to be known before the first event is judged (A13). */
function whenKnown(base: Base, { membersOf }: Pick<Channel, 'membersOf'>, onEvent: OnEvent): OnEvent {
  if (membersOf === undefined) return onEvent;
  return async (event) => {
    await knowMembers(base);
    await onEvent(event);
  };
}

async function knowMembers(base: Base): Promise<void> {
  if (await base.userGroups.ready(base.written())) base.apply();
}

function startChores(base: Base, { files }: Features): readonly Promise<void>[] {
  const { host, chat, process } = base;
  const config = () => host.runtime().config;
  const chore = { ...host, signal: process.stopping.signal };
  return [
    startRetention({ ...chore, files, days: () => config().bot.retentionDays }),
    base.userGroups.follow(base.written, () => base.apply(), chore.signal),
    watchSources({ ...chore, config, replies: chat.replies, env: process.env }),
  ];
}
