import type { App } from '../app.ts';
import { createPeople } from '../access/create-people.ts';
import { createUserGroups, type UserGroups } from '../access/user-groups.ts';
import type { Config } from '../config/complete-config.ts';
import { createRuntimeConfig } from '../config/runtime-config.ts';
import { allHashes, type Feature } from '../core/feature.ts';
import { allCommands, allTools } from '../features/list.ts';
import { createBudgets } from '../limits/budgets.ts';
import { createDeliverArtifacts } from '../replies/artifacts.ts';
import { createSendLargeTables } from '../replies/large-tables.ts';
import { createReplies } from '../replies/replies.ts';
import { createAnsweredThreads } from '../replies/threads.ts';
import { createWorkStates } from '../replies/work-states.ts';
import { createKeptFiles, type KeptFiles } from '../runs/kept-files.ts';
import { createOutsideTools } from '../tools/outside-tools.ts';
import { createChatAgent } from '../tools/settings/chat-agent.ts';
import { createChatSettings } from '../tools/settings/chat-settings.ts';
import { createSettingsInForce } from '../tools/settings/settings-in-force.ts';
import type { BotParts } from './bot.ts';
import { createModelNotices } from './model-notices.ts';
import { cleanAudit, cleanChannel, cleanModels, cleanStore, type Clean } from './redacting-doors.ts';

/** The bot's shared parts, and what only `bot/` does with them. */
export type Ground = Readonly<{
  app: App;
  /** The redaction for the secrets of the current config and chat settings (S2). */
  clean: Clean;
  files: KeptFiles;
  userGroups: UserGroups;
  /** The config as written, without the members of user groups. */
  written(): Config;
  /** Puts a config into force. Without one, members of user groups have changed (A13). */
  apply(config?: Config): void;
  /** Aborts `app.stopping`, so that waiting and repeated work ends. */
  end(reason: unknown): void;
}>;

/** `features` is called only when something is said or heard. */
export function createApp(parts: BotParts, features: () => readonly Feature[]): Ground {
  const { clock, log, env, meter, health } = parts.host;
  const { library, folders, skillSandbox, terminals } = parts;
  // Text leaves the bot only through these three, which redact it (S2).
  const clean: Clean = () => now.redaction;
  const store = cleanStore(parts.host.store, clean);
  const audit = cleanAudit(parts.host.audit, clean);
  const channels = new Map(parts.channels.map((channel) => [channel.name, cleanChannel(channel, clean)]));
  const people = createPeople(
    { store, audit, clock },
    { access: () => now.access, language: () => now.config.bot.language, isHere: terminals?.isHere },
  );
  const { users, migrations, accessOf } = people;
  const chatSettings = createChatSettings({ store, migrations, log });
  const modelNotices = createModelNotices({
    tell: (...told) => replies.tellOwners(...told),
    config: () => now.config,
    clock,
    onFault: (error) => log.error({ err: error }, 'could not notify the owners'),
  });
  const runtimeOf = (config: Config) =>
    createRuntimeConfig(
      config,
      (of, redaction) => cleanModels(modelNotices(parts.makeModels(of)), () => redaction),
      terminals?.changeAccess,
      chatSettings.secrets,
      env,
    );
  const userGroups = createUserGroups({ channels, clock, log });
  let written = parts.config;
  let now = runtimeOf(userGroups.expand(written));

  const runtime: App['runtime'] = () => now;
  const config = (): Config => now.config;
  const stopping = new AbortController();
  const files = createKeptFiles(folders);
  const { outgoing } = files;
  const replies = createReplies({ ...users, store, outgoing, channels, redact: () => now.redact, log });
  const deliverArtifacts = createDeliverArtifacts({ channels, replies, store, outgoing, clean });
  const builtInTools = allTools();
  const outside = createOutsideTools({
    builtInTools,
    sources: [() => features().flatMap((feature) => feature.outside?.() ?? [])],
    isOwner: users.isOwner,
    accessOf,
    log,
  });
  const app: App = {
    ...{ runtime, config, store, audit, meter, clock, log, env, stopping: stopping.signal },
    definitionHashes: () => allHashes(features()),
    patient: health.patient,
    ...people,
    membersKnown,
    channels,
    chatCommands: allCommands(),
    writeCommand: (conversation, name, args) =>
      channels.get(conversation.channel)?.command(conversation, name, args) ?? `/${name}`,
    replies,
    answered: createAnsweredThreads(store),
    workStates: createWorkStates({ channels, store, clock, log }),
    deliverArtifacts,
    sendLargeTables: createSendLargeTables({ channels, deliverArtifacts, redact: () => now.redact, log }),
    canAsk: terminals?.canAsk ?? (() => true),
    ...{ library, skillSandbox, folders, builtInTools, outside, chatSettings },
    budgets: createBudgets({ config, store, clock }),
    toolsWithSettings: () =>
      [...features().flatMap((feature) => feature.settings?.() ?? []), ...outside.all()].filter(
        ({ settings }) => settings !== undefined,
      ),
    settings: createSettingsInForce({ config, chats: chatSettings, audit, log }),
    chatAgent: createChatAgent({ runtime, chats: chatSettings, audit }),
  };
  function apply(changed = written): void {
    written = changed;
    now = runtimeOf(userGroups.expand(changed));
  }

  async function membersKnown(): Promise<void> {
    if (await userGroups.ready(written)) apply();
  }

  return {
    app,
    ...{ clean, files, userGroups, apply },
    written: () => written,
    end: (reason) => stopping.abort(reason),
  };
}
