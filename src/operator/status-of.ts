import { skilletVersion } from '../core/version.ts';
import { localDay } from '../core/local-time.ts';
import { addTokens, noTokens, type Tokens } from '../core/model.ts';
import { firstOfForecast } from '../limits/costs.ts';
import { shownIdLength } from '../core/message.ts';
import { chatIdOf, conversationKey } from '../core/conversation.ts';
import { journalOf } from '../runs/tasks.ts';
import { waitsForYes, type PendingRequest } from '../store/pending-requests.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Backlog, Store, UsageRow } from '../store/store.ts';
import type { ServerState } from '../core/server-state.ts';
import type { Readiness } from './health/open-metrics.ts';
import type { OperateDeps } from './operate-deps.ts';

/** How a bot is, on one screen (L12). */
export type BotStatus = Readonly<{
  version: string;
  /** The running process. Undefined: no bot runs here. */
  process?: Readonly<{ pid: number; upSeconds: number; readiness: Readiness }>;
  backlog: Backlog;
  failedDeliveries: number;
  tasks: readonly TaskRow[];
  /** How many questions about calls wait for an answer. */
  approvals: number;
  routines: Readonly<{ active: number; paused: number }>;
  /** MCP servers of a running bot. */
  servers: readonly ServerState[];
  /** What is wrong with plugins of a running bot, one sentence each. */
  plugins: readonly string[];
  today: readonly UsageRow[];
  /** Tokens by day and model since this month began, or the last seven days if that is longer, for a forecast (G6). */
  days: readonly DayUse[];
}>;

export type DayUse = Readonly<{ day: string; model: string; tokens: Tokens }>;

/** A run that works in the background. */
export type TaskRow = Readonly<{
  id: string;
  skill: string;
  sender: string;
  chat: string;
  state: 'waiting' | 'running' | 'asking';
  /** Since when it is in this state, in Unix milliseconds. */
  since: number;
}>;

export async function statusOf({ store, servers, running, zone }: OperateDeps): Promise<BotStatus> {
  const items = await store.inbox.list('waiting');
  const requests = await openRequests(items, store);
  const pid = process.pid;
  const now = Date.now();
  return {
    version: skilletVersion(),
    process:
      running === undefined
        ? undefined
        : { pid, upSeconds: Math.round(process.uptime()), readiness: running.readiness() },
    backlog: await store.backlog(),
    failedDeliveries: (await store.outbox.givenUp()).length,
    tasks: rowsOf(items, requests),
    approvals: requests.filter(waitsForYes).length,
    routines: await countRoutines(store),
    servers: await servers(),
    plugins: running?.plugins() ?? [],
    today: await store.usage({ day: localDay(now, zone()) }),
    days: byDay(await store.stats(firstOfForecast(now, zone()))),
  };
}

function byDay(rows: readonly UsageRow[]): readonly DayUse[] {
  const groups = Map.groupBy(rows, ({ day, model }) => JSON.stringify([day, model]));
  return [...groups.values()].flatMap((of) =>
    of.slice(0, 1).map(({ day, model }) => {
      return { day, model, tokens: of.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens) };
    }),
  );
}

async function countRoutines({ routines }: Store): Promise<BotStatus['routines']> {
  const all = await routines.all();
  const count = (wanted: string): number => all.filter(({ state }) => state === wanted).length;
  return { active: count('active'), paused: count('paused') };
}

export async function tasksOf(store: Store): Promise<readonly TaskRow[]> {
  const items = await store.inbox.list('waiting');
  return rowsOf(items, await openRequests(items, store));
}

/** Questions of items that wait. */
async function openRequests(
  items: readonly ListedItem[],
  { pendingRequests }: Store,
): Promise<readonly PendingRequest[]> {
  const places = new Map(
    items.flatMap(({ message }) =>
      message === undefined ? [] : [[conversationKey(message.conversation), message.conversation] as const],
    ),
  );
  return (await Promise.all([...places.values()].map(pendingRequests.open))).flat();
}

function rowsOf(items: readonly ListedItem[], requests: readonly PendingRequest[]): readonly TaskRow[] {
  return items.flatMap(({ message, takenAt, acceptedAt }) => {
    const { task, sender, conversation } = message ?? {};
    if (task?.kind !== 'run' || sender === undefined || conversation === undefined) return [];
    const request = requests.find((one) => waitsForYes(one) && one.transcript === journalOf(task));
    return {
      id: task.id.slice(0, shownIdLength),
      skill: task.skill,
      sender: sender.id,
      chat: chatIdOf(conversation),
      state: request !== undefined ? 'asking' : takenAt === undefined ? 'waiting' : 'running',
      since: request?.askedAt ?? acceptedAt,
    };
  });
}
