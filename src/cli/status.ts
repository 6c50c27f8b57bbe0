import { operatorZone } from '../core/local-time.ts';
import { costOf, monthForecast } from '../limits/costs.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import type { RoutineRow } from '../features/routines/operations.ts';
import { describeServer } from '../core/server-state.ts';
import type { BotStatus, TaskRow } from '../operator/status-of.ts';
import { printable } from '../lib/text/text.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { inMinutes, printJson, untilInterrupted, waited, printList } from './console.ts';
import { openOperatorConfig } from './open-config.ts';
import { skilletHere } from '../core/skillet-here.ts';

const watchMs = 2_000;

/** Shows the state of the bot. Exit code 1 if no bot runs, or it is not ready (L12). */
export async function status(given: SharedOptions & Readonly<{ watch?: boolean }>): Promise<void> {
  const { config: flag, json, watch } = given;
  const config = await openOperatorConfig(flag);
  using interrupted = untilInterrupted(new OperatorError('stopped'));
  do {
    const now = await askBot(flag, 'status');
    process.exitCode = now.process?.readiness.ready === true ? 0 : 1;
    if (json === true) printJson(now);
    else {
      if (watch === true && process.stdout.isTTY) process.stdout.write(clearScreen);
      printList(statusScreen(now, config));
    }
  } while (watch === true && (await waited(watchMs, interrupted.signal)));
}

const clearScreen = '\u001b[2J\u001b[H';

export async function listTasks({ config, json }: SharedOptions): Promise<void> {
  const tasks = await askBot(config, 'tasks');
  if (json === true) return printJson(tasks);
  printList(tasks.map(taskLine), 'There are no background runs.');
}

export async function listRoutines({ config, json }: SharedOptions): Promise<void> {
  const routines = await askBot(config, 'routine list');
  if (json === true) return printJson(routines);
  printList(routines.map(routineLine), 'There are no routines.');
}

function routineLine({ id, name, creator, conversation, state, next, last, failures }: RoutineRow): string {
  const stands = next === undefined ? state : `next ${inMinutes(next)}`;
  const came = last === undefined ? '' : `  last ${inMinutes(last.at)} ${last.how}`;
  const failed = failures === 0 ? '' : `  failed ${failures} times`;
  return `${id}  ${printable(name)}  of ${printable(creator)} in ${printable(conversation)}  ${stands}${came}${failed}`;
}

const states: Readonly<Record<TaskRow['state'], string>> = {
  waiting: 'waits',
  running: 'runs',
  asking: 'waits for a yes',
};

function taskLine({ id, skill, sender, chat, state, since }: TaskRow): string {
  const where = chat === sender ? '' : ` in ${printable(chat)}`;
  return `${id}  ${printable(skill)}  for ${printable(sender)}${where}  ${states[state]} since ${inMinutes(since)}`;
}

export function statusScreen(now: BotStatus, config: Config): readonly string[] {
  const {
    version,
    process: running,
    backlog,
    failedDeliveries,
    tasks,
    approvals,
    routines,
    servers,
    plugins,
  } = now;
  const rows: readonly (readonly [string, string])[] = [
    [
      'bot',
      running === undefined
        ? `Skillet ${version} is not running`
        : `Skillet ${version}, process ${running.pid}, up ${duration(running.upSeconds)}, ${running.readiness.ready ? 'ready' : 'not ready'}`,
    ],
    ...(running === undefined ? [] : ofProcess(running.readiness)),
    ['waiting', `${backlog.inboxWaiting} messages, ${backlog.outboxWaiting} parts of answers`],
    [
      'failed',
      `${backlog.inboxDead} messages (${skilletHere()} inbox list), ${failedDeliveries} deliveries (${skilletHere()} outbox list)`,
    ],
    ['runs', `${tasks.length} in the background, ${approvals} approvals wait`],
    ['routines', `${routines.active} active, ${routines.paused} paused (${skilletHere()} routines)`],
    ...servers.map((server): readonly [string, string] => [
      `mcp ${server.name}`,
      describeServer(server, { ago, command: `${skilletHere()} mcp list` }),
    ]),
    ...plugins.map((problem): readonly [string, string] => ['plugin', problem]),
    ['today', usedToday(now, config)],
    ...usedThisMonth(now, config),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, said]) => `${name.padEnd(width)}  ${printable(said)}`);
}

type Running = NonNullable<BotStatus['process']>;

function ofProcess({
  channels,
  store,
  data,
  model,
}: Running['readiness']): readonly (readonly [string, string])[] {
  return [
    ...Object.entries(channels).map(([name, { state, lastEventSeconds }]): readonly [string, string] => [
      name,
      `${state}, ${lastEventSeconds === null ? 'no event yet' : `last event ${duration(lastEventSeconds)} ago`}`,
    ]),
    ['store', store.ok ? 'works' : `does not work since ${duration(store.sinceSeconds)}: ${store.reason}`],
    ...(data.ok ? [] : [['data', data.reason] as const]),
    [
      'model',
      model === null
        ? 'not asked yet'
        : `${model.alias}: ${model.outcome}, ${duration(model.ageSeconds)} ago`,
    ],
  ];
}

/** Tokens used today, and dollars for the models that have prices. */
function usedToday({ today }: BotStatus, config: Config): string {
  const tokens = today.reduce(
    (sum, { tokens: { input, output, cacheRead, cacheWrite } }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
  const costs = today.flatMap(({ model, tokens: of }) => costOf(config, model, of) ?? []);
  const usd = costs.reduce((sum, one) => sum + one, 0);
  const money = costs.length === 0 ? '' : `, ${usd.toFixed(2)} dollars`;
  return `${tokens.toLocaleString('en')} tokens${money}`;
}

/** Dollars of this month with a forecast and the budget. No row if no model has a price. */
function usedThisMonth({ days }: BotStatus, config: Config): readonly (readonly [string, string])[] {
  const zone = operatorZone(config);
  const costs = days.map(({ day, model, tokens }) => [day, costOf(config, model, tokens)] as const);
  if (days.length > 0 && costs.every(([, usd]) => usd === undefined)) return [];
  const byDay = new Map<string, number>();
  for (const [day, usd = 0] of costs) byDay.set(day, (byDay.get(day) ?? 0) + usd);
  const { spent, atEnd } = monthForecast(byDay, Date.now(), zone);
  const { usdPerMonth } = config.limits.global;
  const forecast = atEnd === undefined ? '' : `, about ${atEnd.toFixed(2)} by its end at this rate`;
  const budget = usdPerMonth === 0 ? '' : `, of ${usdPerMonth} by [limits.global] usd_per_month`;
  return [['month', `${spent.toFixed(2)} dollars${budget}${forecast}`]];
}

export function ago(since: number): string {
  return duration(Math.max(0, Math.round((Date.now() - since) / 1_000)));
}

/** A time as people read it, such as `2 d 3 h`, `5 min` or `12 s`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3_600);
  return hours < 24
    ? `${hours} h ${Math.floor((seconds % 3_600) / 60)} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
