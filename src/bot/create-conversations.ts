import type { App } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import { createCommands } from '../conversations/commands.ts';
import { giveUp, handleItem, type ItemDeps } from '../conversations/handle-item.ts';
import { hasProgressed } from '../conversations/has-progressed.ts';
import { createKeptWords } from '../conversations/kept-words.ts';
import { createInboxWorker, type InboxWorker } from '../conversations/inbox-worker.ts';
import { createReceiveEvent } from '../conversations/intake/receive-event.ts';
import { createJudgeMessage } from '../conversations/judge-message.ts';
import { createOverview } from '../conversations/overview.ts';
import { partsOfFeatures } from '../conversations/parts-of-features.ts';
import { ProcessEnded } from '../conversations/suspects.ts';
import type { OnEvent } from '../core/channel.ts';
import type { Feature } from '../core/feature.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { inlineCode } from '../lib/text/text.ts';
import { measureTurns } from '../operator/health/measure-work.ts';
import { noTracing } from '../operator/tracing/tracing.ts';
import type { KeptFiles } from '../runs/kept-files.ts';
import { createQuestions } from '../runs/questions.ts';
import type { InboxItem } from '../store/inbox.ts';
import { patientKeyed } from '../store/patient-keyed.ts';
import type { BotParts } from './bot.ts';
import { createAgent } from './create-agent.ts';

type Conversations = Readonly<{
  onEvent: OnEvent;
  worker: InboxWorker;
}>;

export function createConversations(
  app: App,
  features: readonly Feature[],
  { parts, files, explain }: Readonly<{ parts: BotParts; files: KeptFiles; explain: ExplainAccess }>,
): Conversations {
  const { tracing = noTracing, health } = parts.host;
  const { terminals } = parts;
  const byFeature = partsOfFeatures(features);
  const overview = createOverview(app, features);
  const commands = createCommands(app, overview, byFeature);
  const judge = createJudgeMessage(app, commands, explain);
  const questions = createQuestions(app);
  const item: ItemDeps = {
    ...app,
    features: byFeature,
    commands,
    judge,
    questions,
    ...createAgent(app, features, { questions, received: files.received, tracing }),
    keptWords: createKeptWords(app),
    onFailed: (key) => terminals?.onFailed(key),
  };
  const worker = createInboxWorker(
    {
      handle: tracing.items(
        measureTurns((taken, signal) => handleItem(taken, signal, item), app.meter, app.clock),
      ),
      progressed: (of, at) => hasProgressed(of, at, app),
      async onDead(dead, error) {
        await giveUp(dead, error, item);
        if (error instanceof ProcessEnded) await tellOfDeath(dead, app);
        terminals?.onDead(dead.key);
      },
      channels: [...app.channels.keys()],
      concurrency: parts.config.agent.concurrency,
      mostTries: terminals?.mostTries,
    },
    { ...app, store: { ...app.store, keyed: patientKeyed(app.store.keyed, health) } },
  );
  const onEvent = createReceiveEvent(app, byFeature, { commands, judge, overview });
  return { onEvent, worker };
}

function tellOfDeath({ key, message }: InboxItem, { replies }: App): Promise<void> {
  const sender = inlineCode(message.sender.id);
  const retry = inlineCode(`${skilletHere()} inbox retry ${key}`);
  return replies.tellOwners(
    `died:${key}`,
    (say) =>
      say`My process ended each time while I worked on one message of ${sender}, so I set that message aside. To try it again: ${retry}`,
  );
}
