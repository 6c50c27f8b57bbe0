import { setTimeout as delay } from 'node:timers/promises';
import type { LeanPlatform } from '../lean/lean-platform.ts';
import type { Machine } from '../machines/network.ts';
import type { PostgresServer } from '../postgres.ts';
import type { Fleet } from './fleet.ts';
import { heldBy, type Expected } from './held-answers.ts';
import { until } from '../until.ts';
import type { ScaleLoad } from './scale-load.ts';

/** Machines of their own around one database, whose address moves. */
export type World = Readonly<{
  machines: readonly Machine[];
  /** Where the platform is. */
  host: string;
  /** The URL of a database as the machines have it. */
  storeOf(url: string): string;
  /** The standby takes the place of the database, and of its address. */
  promote(): Promise<void>;
}>;

export type Ground = Readonly<{
  server: PostgresServer;
  url: string;
  platform: LeanPlatform;
  fleet: Fleet;
  load: ScaleLoad;
  world: World | undefined;
}>;

/** Something that went wrong, and how long people waited for it. */
export type Mishap = Readonly<{
  name: MishapName;
  /** The process it befell, where it was one. */
  who: string;
  /** Answers that were in the hands of what it befell; of the database, in those of all processes. */
  held: number;
  /** From the moment it happened to the first, the middle and the last of them, seconds; `NaN` where there was none. */
  firstS: number;
  medianS: number;
  lastS: number;
  /** From the same moment until somebody asked for updates after it. */
  polledS: number;
  /** Monotonic milliseconds: when it happened, when its last conversation was answered. */
  at: number;
  overAt: number;
}>;

export type MishapName = keyof typeof mishaps;

/** All that can be tried, by name. Each leaves every process running. */
export const mishaps = {
  /** The process that asks Telegram for updates is killed. */
  poller: (ground: Ground) => killOne(ground, 'poller', poller(ground)),
  /** One that does not is killed: the one with most requests at the model. */
  worker: (ground: Ground) => killOne(ground, 'worker', busiest(ground)),
  /** The poller is told to stop, as in an update, and started again. */
  restart: (ground: Ground) => restart(ground),
  /** All are killed at once and started at once. */
  all: (ground: Ground) => killAll(ground),
  /** The poller stands still for 40 seconds and goes on. */
  stopped: (ground: Ground) => standStill(ground),
  /** PostgreSQL is stopped in order and started again. */
  database: (ground: Ground) => databaseGone(ground, 'database', 'fast'),
  /** PostgreSQL is killed and started again. */
  databaseCrash: (ground: Ground) => databaseGone(ground, 'databaseCrash', 'crash'),
  /** Nothing passes between the poller's machine and the database for 40 seconds. */
  partition: (ground: Ground) => cutOff(ground),
  /** The machine of PostgreSQL is gone; its standby is promoted and gets its address. */
  failover: (ground: Ground) => databaseGone(ground, 'failover', 'crash', worldOf(ground).promote),
} as const;

const stillMs = 40_000;
/** Requests at the model, on average of the processes concerned. */
const leastAtWork = 2;
/** An answer that has not come by then does not come. */
const longestMs = 120_000;

async function killOne(ground: Ground, name: MishapName, who: string): Promise<Mishap> {
  const { fleet } = ground;
  const { held, release } = await atWork(ground, who);
  const at = performance.now();
  // Others may answer before the end of the process is told.
  await fleet.kill(who);
  release();
  const result = await outcome(ground, { name, who, at, goneAt: at, held });
  await fleet.start(who);
  return result;
}

async function killAll(ground: Ground): Promise<Mishap> {
  const { fleet } = ground;
  const { held, release } = await atWork(ground);
  const at = performance.now();
  await Promise.all(fleet.names.map(fleet.kill));
  release();
  await Promise.all(fleet.names.map(fleet.start));
  return outcome(ground, { name: 'all', who: fleet.names.join(' '), at, goneAt: at, held });
}

async function restart(ground: Ground): Promise<Mishap> {
  const { fleet } = ground;
  const who = poller(ground);
  const { held, release } = await atWork(ground, who);
  const at = performance.now();
  const stopping = fleet.stop(who);
  release();
  const { code } = await stopping;
  if (code !== 0) throw new Error(`${who} ended with ${code}: ${fleet.errors(who).join('\n')}`);
  const result = await outcome(ground, { name: 'restart', who, at, goneAt: at, held });
  await fleet.start(who);
  return result;
}

async function standStill(ground: Ground): Promise<Mishap> {
  const who = poller(ground);
  const bot = ground.fleet.running(who);
  return silence(ground, 'stopped', who, {
    begin: () => bot?.signal('SIGSTOP'),
    end: () => bot?.signal('SIGCONT'),
  });
}

async function cutOff(ground: Ground): Promise<Mishap> {
  const who = poller(ground);
  const machine = worldOf(ground).machines.find(({ name }) => name === who);
  return silence(ground, 'partition', who, {
    begin: () => machine?.cutOff(),
    end: () => machine?.rejoin(),
  });
}

async function silence(
  ground: Ground,
  name: MishapName,
  who: string,
  how: Readonly<{ begin(): void; end(): void }>,
): Promise<Mishap> {
  const { held, release } = await atWork(ground, who);
  const at = performance.now();
  how.begin();
  release();
  try {
    const [result] = await Promise.all([
      outcome(ground, { name, who, at, goneAt: at, held }),
      delay(stillMs),
    ]);
    return result;
  } finally {
    how.end();
  }
}

async function databaseGone(
  ground: Ground,
  name: MishapName,
  how: 'fast' | 'crash',
  comeBack = ground.server.start,
): Promise<Mishap> {
  const { held, release } = await atWork(ground);
  const at = performance.now();
  await ground.server.stop(how);
  const goneAt = performance.now();
  release();
  await comeBack();
  return outcome(ground, { name, who: 'PostgreSQL', at, goneAt, held });
}

function worldOf({ world }: Ground): World {
  if (world === undefined) throw new Error('this needs machines: npm run test:machines');
  return world;
}

function poller({ platform }: Ground): string {
  return platform.polls.at(-1)?.by ?? '';
}

function busiest(ground: Ground): string {
  const { fleet, platform } = ground;
  const others = fleet.names.filter((name) => name !== poller(ground));
  const asking = (name: string): number => platform.asking.get(name) ?? 0;
  return others.toSorted((a, b) => asking(b) - asking(a))[0] ?? fleet.names[0] ?? '';
}

/** What is in hand (of the process, or all), read while the model keeps everybody waiting until `release`. */
async function atWork(
  ground: Ground,
  who?: string,
): Promise<Readonly<{ held: readonly Expected[]; release(): void }>> {
  const { platform, load, fleet } = ground;
  const names = who === undefined ? fleet.names : [who];
  const releases = names.map(platform.hold);
  let over = false;
  void load.done.then(() => (over = true));
  const asking = (): number => names.reduce((sum, name) => sum + (platform.asking.get(name) ?? 0), 0);
  await until(() => over || asking() >= leastAtWork * names.length);
  // Processes note what they hold now and then: until the turns that wait for the model are noted, it is what they held before.
  let held: readonly Expected[] = [];
  await until(async () => {
    held = (await heldBy(ground, who)).filter((expected) => arrivalOf(expected, platform) === Infinity);
    return over || held.filter((expected) => expected.of === 'turn').length >= asking();
  });
  return { held, release: () => releases.forEach((release) => release()) };
}

/** Until the last of these answers arrived, or nothing more comes. One that arrived before was only to be noted. */
async function outcome(
  { platform, load }: Ground,
  of: Readonly<{
    name: MishapName;
    who: string;
    at: number;
    goneAt: number;
    held: readonly Expected[];
  }>,
): Promise<Mishap> {
  const { name, who, at: began, goneAt } = of;
  const arrival = (expected: Expected): number => arrivalOf(expected, platform);
  const held = of.held.filter((expected) => arrival(expected) > goneAt);
  await Promise.race([
    load.done,
    heard(platform, () => held.every((expected) => arrival(expected) < Infinity)),
    delay(longestMs, undefined, { ref: false }),
  ]);
  const seconds = (at: number): number => (at - began) / 1_000;
  const times = held.map((expected) => seconds(arrival(expected))).toSorted((a, b) => a - b);
  return {
    name,
    who,
    held: held.length,
    firstS: times[0] ?? NaN,
    medianS: times[Math.floor((times.length - 1) / 2)] ?? NaN,
    lastS: times.at(-1) ?? NaN,
    polledS: seconds(platform.polls.find(({ at }) => at > goneAt)?.at ?? Infinity),
    at: began,
    overAt: performance.now(),
  };
}

/** When it arrived, in monotonic milliseconds; `Infinity` if it has not. */
function arrivalOf({ chat, text }: Expected, { answers, files }: LeanPlatform): number {
  return (
    answers.get(chat)?.find((answer) => answer.text === text)?.at ??
    files.get(chat)?.find(({ name }) => name === text)?.at ??
    Infinity
  );
}

/** Resolves when it is so, looked at with each answer. */
function heard(platform: LeanPlatform, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const unhear = platform.onAnswer(look);
    look();
    function look(): void {
      if (!isSo()) return;
      unhear();
      resolve();
    }
  });
}
