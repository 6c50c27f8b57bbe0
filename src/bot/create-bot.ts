import type { App } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import type { AnswerOperation } from '../channels/terminal/control.ts';
import { accessSettings } from '../config/runtime-config.ts';
import { createRefreshMenus } from '../conversations/refresh-menus.ts';
import type { Channel, OnEvent } from '../core/channel.ts';
import type { Feature } from '../core/feature.ts';
import { featureList } from '../features/list.ts';
import { operatorZone } from '../core/local-time.ts';
import { shutdownReason } from '../lib/async/shutdown.ts';
import { accessDecisions } from '../operator/access/access-decisions.ts';
import { toWriter } from '../operator/access/question.ts';
import { damageNotice, outageNotice } from '../operator/health/store-health.ts';
import { createNameChats } from '../operator/look/known-names.ts';
import { createOperate } from '../operator/operate.ts';
import { typedOperate } from '../operator/operations.ts';
import { createReconfigure } from '../operator/reconfigure.ts';
import { noTracing } from '../operator/tracing/tracing.ts';
import { createDelivery } from '../replies/deliver.ts';
import { startRetention } from '../runs/kept-files.ts';
import { cancelWork } from '../runs/tasks.ts';
import { watchSources } from '../skills/watch-sources.ts';
import { createAccessInForce } from './access-in-force.ts';
import type { Bot, BotParts } from './bot.ts';
import { createApp, type Ground } from './create-app.ts';
import type { InboxWorker } from '../conversations/inbox-worker.ts';
import { createConversations } from './create-conversations.ts';
import { cleanOperate } from './redacting-doors.ts';

const deliveryGraceMs = 2_000;

export function createBot(parts: BotParts): Bot {
  const ground = createApp(parts, () => all);
  const { app } = ground;
  const { runtime, store, users, channels, library, chatSettings } = app;
  const inForce = createAccessInForce(ground);
  const explain: ExplainAccess = (of, say) => accessDecisions(toWriter(of), { ...app, inForce }, say);
  const opened = { plugins: parts.plugins, explain, features: () => all };
  const all: readonly Feature[] = featureList.map(({ create }) => create(app, opened));
  const { onEvent, worker } = createConversations(app, all, {
    parts,
    files: ground.files,
    explain,
  });
  const delivery = deliveryOf(ground, parts);
  const menus = createRefreshMenus({ ...app, signals: store.signals });
  const each = (step: (feature: Feature) => Promise<void> | void) =>
    Promise.all(all.map(async (feature) => step(feature)));
  let chores: readonly Promise<void>[] = [];

  return {
    users,
    pairing: app.pairing,
    redact: (text) => runtime().redact(text),
    operate: operateOf(ground, all, { parts, inForce }),
    receiveHook: all.find(({ receiveHook }) => receiveHook !== undefined)?.receiveHook ?? noHook,
    page(path, query) {
      for (const feature of all) {
        const page = feature.page?.(path, query);
        if (page !== undefined) return page;
      }
      return undefined;
    },
    async start() {
      startHealth(ground, parts, worker);
      await app.patient(chatSettings.load, { repeatable: true });
      for (const feature of all) await feature.start?.();
      app.stopping.throwIfAborted();
      // A channel may wait for its platform for long, and this work does not need it.
      chores = all.flatMap((feature) => feature.attend?.() ?? []);
      worker.start();
      delivery.start();
      await Promise.all(
        [...channels.values()].map((channel) => channel.start(whenKnown(app, channel, onEvent))),
      );
      app.stopping.throwIfAborted();
      for (const feature of all) feature.ready?.();
      library.watch(menus.changed);
      chores = [...chores, ...startChores(ground)];
      await menus.show();
    },
    async stop() {
      // The worker stops first. If `stopping` had aborted before, items would stop waiting and the worker would take
      // them again.
      const ended = worker.stop(runtime().config.bot.shutdownSeconds * 1_000);
      ground.end(shutdownReason());
      menus.stop();
      await Promise.all([
        each((feature) => feature.stop?.()),
        ...[...channels.values()].map((channel) => channel.stop()),
      ]);
      parts.host.health.stop();
      await ended;
      await Promise.all([...chores, delivery.stop(deliveryGraceMs), each((feature) => feature.close?.())]);
      await app.audit.settled();
    },
    async cancel(queue) {
      const waiting = await store.inbox.waitingIn(queue);
      const running = waiting.filter((item) => item.queue === queue && item.takenAt !== undefined);
      const { stopping } = await cancelWork(store, { items: running.map(({ key }) => key) });
      return stopping.length > 0;
    },
    async idle() {
      await each((feature) => feature.idle?.());
      await worker.idle();
      await delivery.idle();
    },
    servers: () => Object.fromEntries(all.flatMap((feature) => Object.entries(feature.links?.() ?? {}))),
    toolsSeen: async () => void (await each((feature) => feature.seen?.())),
    async spent(sender, place) {
      const { models } = runtime();
      const { model } = await app.chatAgent.of(place);
      const isNone = models.offline && model === 'default';
      return { model: isNone ? '' : models.get(model).alias, ...(await app.budgets.today(sender)) };
    },
    reconfigure: createReconfigure({
      ...app,
      config: ground.written,
      apply(config) {
        ground.apply(config);
        each((feature) => feature.follow?.()).catch((error: unknown) =>
          app.log.error({ err: error }, 'a feature could not apply the changed config'),
        );
        menus.changed(library.current());
      },
    }),
  };
}

/** Without the feature, no hook is known. */
const noHook: Bot['receiveHook'] = async () => ({
  status: 404,
  outcome: 'unknown',
  body: 'there is no such hook',
});

function deliveryOf(
  { app, files }: Ground,
  { host: { tracing = noTracing } }: BotParts,
): ReturnType<typeof createDelivery> {
  const { migrations, store } = app;
  return createDelivery({
    ...app,
    outbox: tracing.outbox(store.outbox),
    currentPlace: migrations.current,
    onMoved: async (from, to) => {
      await migrations.remember(`${from.channel}:${from.chat}`, `${from.channel}:${to}`);
    },
    outgoing: files.outgoing,
  });
}

function operateOf(
  { app, clean, files }: Ground,
  features: readonly Feature[],
  { parts, inForce }: Readonly<{ parts: BotParts; inForce: ReturnType<typeof createAccessInForce> }>,
): Bot['operate'] {
  const { health } = parts.host;
  const { operate } = createOperate({
    ...app,
    access: () => accessSettings(app.runtime().config),
    features,
    files,
    inForce,
    zone: () => operatorZone(app.runtime().config),
    running: {
      readiness: health.readiness,
      plugins: () => parts.plugins.diagnostics.map(({ message }) => message),
      nameChats: createNameChats(async (place) => app.channels.get(place.channel)?.lookUpChat(place)),
      async followFiles() {
        for (const feature of features) await feature.follow?.();
      },
    },
  });
  // Work waits for the store, but an operator does not (Q11). A backup is made even in an outage, because it can save
  // what a removed file still has.
  const inTime: AnswerOperation = (name, ...rest) =>
    name === 'backup' ? operate(name, ...rest) : health.admitting(() => operate(name, ...rest));
  return typedOperate(cleanOperate(inTime, clean));
}

function startHealth({ app }: Ground, parts: BotParts, worker: InboxWorker): void {
  const tell = ({ key, words }: ReturnType<typeof outageNotice>): void =>
    void app.replies
      .tellOwners(key, words)
      .catch((error: unknown) => app.log.error({ err: error }, 'could not notify the owners'));
  parts.host.health.start(
    (outage) => {
      tell(outageNotice(outage, operatorZone(app.runtime().config)));
      worker
        .storeWasAway()
        .catch((error: unknown) => app.log.warn({ err: error }, 'could not note the outage'));
    },
    (damage) => tell(damageNotice(damage)),
  );
}

/** The members of user groups have to be known before the first event is judged (A13). */
function whenKnown({ membersKnown }: App, { membersOf }: Channel, onEvent: OnEvent): OnEvent {
  if (membersOf === undefined) return onEvent;
  return async (event) => {
    await membersKnown();
    await onEvent(event);
  };
}

function startChores({ app, files, userGroups, written, apply }: Ground): readonly Promise<void>[] {
  const config = () => app.runtime().config;
  const chore = { ...app, signal: app.stopping };
  return [
    startRetention({
      ...{ ...chore, files },
      days: () => config().bot.retentionDays,
      auditDays: () => config().audit.retentionDays,
    }),
    userGroups.follow(written, () => apply(), chore.signal),
    watchSources({ ...chore, config }),
  ];
}
