import { createCommands } from '../conversations/commands.ts';
import { giveUp, handleItem, type ItemDeps } from '../conversations/handle-item.ts';
import { createInboxWorker, hasProgressed, type InboxWorker } from '../conversations/inbox-worker.ts';
import { ProcessEnded } from '../conversations/suspects.ts';
import { createReceiveEvent } from '../conversations/intake/receive-event.ts';
import { createJudgeMessage } from '../conversations/judge-message.ts';
import { createOverview } from '../conversations/overview.ts';
import { createWhy } from '../conversations/why.ts';
import type { OnEvent } from '../core/channel.ts';
import { serverStates } from '../mcp/server-state.ts';
import { accessDecisions } from '../operator/access/access-decisions.ts';
import { toWriter } from '../operator/access/question.ts';
import { measureTurns } from '../operator/health/measure-work.ts';
import { noTracing } from '../operator/tracing/tracing.ts';
import { createQuestions } from '../runs/questions.ts';
import { createAccessInForce } from './access-in-force.ts';
import { inlineCode } from '../lib/text/text.ts';
import { createSendLargeTables } from '../replies/large-tables.ts';
import type { Replies } from '../replies/replies.ts';
import type { InboxItem } from '../store/inbox.ts';
import { patientKeyed } from '../store/patient-keyed.ts';
import type { BotParts } from './bot.ts';
import { createAgent } from './create-agent.ts';
import type { Base } from './create-base.ts';
import type { Features } from './create-features.ts';
import { isSetting } from '../features/settings/feature.ts';
import { commandsOf, featuresOf, pressesOf } from './features.ts';
import { skilletHere } from '../core/skillet-here.ts';

type Conversations = Readonly<{ onEvent: OnEvent; worker: InboxWorker }>;

export function createConversations(base: Base, features: Features, parts: BotParts): Conversations {
  const { host, people, chat } = base;
  const { store, clock } = host;
  const { users, accessOf } = people;
  const { authoring, approvals, rules, capabilities, chatAgent, budgets, tools, files } = features;
  const { library, plugins } = parts;
  const { tracing = noTracing } = parts.host;
  const { settings } = tools;
  const registry = library.current;
  const servers = async () => serverStates(await tools.mcp.operations.list());
  const overview = createOverview({
    ...host,
    users,
    accessOf,
    registry,
    budgets,
    plugins,
    servers,
    chatAgent,
  });
  const inForce = createAccessInForce(base, parts);
  const why = createWhy({
    users,
    explain: (of, say) => accessDecisions(toWriter(of), { users, accessOf, inForce }, say),
    rules,
    written: authoring.approvals.records,
    ...chat,
  });
  const all = featuresOf(base, features, why);
  const commands = createCommands({
    host,
    people,
    skills: library,
    chat,
    commands: commandsOf(all),
    isSetting: (args) => isSetting(args, settings),
    approvals,
    capabilities,
    overview,
    why,
  });
  const judge = createJudgeMessage({ ...host, ...chat, accessOf, commands, why, budgets });
  const reading = { commands, judge };
  const questions = createQuestions({ store, clock });
  const item: ItemDeps = {
    host,
    people,
    reading,
    agent: { ...createAgent(base, { ...features, all }, parts), questions },
    chat,
    sendLargeTables: createSendLargeTables({
      ...chat,
      deliverArtifacts: files.deliverArtifacts,
      redact: () => host.runtime().redact,
      log: host.log,
    }),
    capabilities,
    routines: { budgets, library },
    onFailed: (key) => parts.terminals?.onFailed(key),
  };
  const worker = createInboxWorker(
    {
      handle: tracing.items(
        measureTurns((taken, signal) => handleItem(taken, signal, item), parts.host.meter, clock),
      ),
      progressed: (of, at) => hasProgressed(of, at, host),
      async onDead(dead, error) {
        await giveUp(dead, error, item);
        if (error instanceof ProcessEnded) await tellOfDeath(dead, chat.replies);
        parts.terminals?.onDead(dead.key);
      },
      channels: [...chat.channels.keys()],
      concurrency: parts.config.agent.concurrency,
      mostTries: parts.terminals?.mostTries,
    },
    { ...host, store: { ...store, keyed: patientKeyed(store.keyed, parts.host.health) } },
  );
  const onEvent = createReceiveEvent({
    host,
    people,
    reading,
    approvals,
    presses: pressesOf(all),
    capabilities,
    chat,
    shows: { overview, settings },
  });
  return { onEvent, worker };
}

function tellOfDeath(
  { key, message }: InboxItem,
  { tellOwners }: Pick<Replies, 'tellOwners'>,
): Promise<void> {
  const sender = inlineCode(message.sender.id);
  const retry = inlineCode(`${skilletHere()} inbox retry ${key}`);
  return tellOwners(
    `died:${key}`,
    (say) =>
      say`My process ended each time while I worked on one message of ${sender}, so I set that message aside. To try it again: ${retry}`,
  );
}
