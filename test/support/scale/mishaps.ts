import { setTimeout as delay } from 'node:timers/promises';
import type { LeanPlatform } from '../lean/lean-platform.ts';
import type { Machine } from '../machines/network.ts';
import type { PostgresServer } from '../postgres.ts';
import type { Fleet } from './fleet.ts';
import {
  heldSince,
  lanesOfProcesses,
  nextOf,
  silentMs,
  withoutSession,
  type Before,
  type Expected,
} from './held-answers.ts';
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
  /** Answers that were in the hands of what died; where nothing died, or the database, the next one of every conversation. */
  held: number;
  /** From the moment it happened to the first and the last of them, seconds; `NaN` where there was none. */
  firstS: number;
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
  failover: (ground: Ground) => failOver(ground),
} as const;

const stillMs = 40_000;
const leastAtWork = 2;

async function killOne(ground: Ground, name: MishapName, who: string): Promise<Mishap> {
  const { fleet } = ground;
  const release = await atWork(ground, who);
  const writtenDown = await nextOf(ground, lanesOfProcesses);
  const before = await mark(ground);
  await fleet.kill(who);
  const goneAt = performance.now();
  release();
  const dead = await withoutSession(ground, writtenDown);
  const held = writtenDown.filter(({ id }) => dead.has(id));
  const result = await outcome(ground, { name, who, before, goneAt, held });
  await fleet.start(who);
  return result;
}

async function killAll(ground: Ground): Promise<Mishap> {
  const { fleet } = ground;
  const before = await mark(ground);
  await Promise.all(fleet.names.map(fleet.kill));
  const goneAt = performance.now();
  const held = await heldSince(ground, await mark(ground), 0);
  await Promise.all(fleet.names.map(fleet.start));
  return outcome(ground, { name: 'all', who: fleet.names.join(' '), before, goneAt, held });
}

async function restart(ground: Ground): Promise<Mishap> {
  const { fleet } = ground;
  const who = poller(ground);
  const before = await mark(ground);
  const held = await nextOf(ground);
  const { code } = await fleet.stop(who);
  if (code !== 0) throw new Error(`${who} ended with ${code}: ${fleet.errors(who).join('\n')}`);
  const result = await outcome(ground, { name: 'restart', who, before, goneAt: before.at, held });
  await fleet.start(who);
  return result;
}

async function standStill(ground: Ground): Promise<Mishap> {
  const who = poller(ground);
  const release = await atWork(ground, who);
  const before = await mark(ground);
  ground.fleet.running(who)?.signal('SIGSTOP');
  const goneAt = performance.now();
  release();
  try {
    const held = await heldSince(ground, before);
    const [result] = await Promise.all([
      outcome(ground, { name: 'stopped', who, before, goneAt, held }),
      delay(stillMs - silentMs),
    ]);
    return result;
  } finally {
    ground.fleet.running(who)?.signal('SIGCONT');
  }
}

async function databaseGone(ground: Ground, name: MishapName, how: 'fast' | 'crash'): Promise<Mishap> {
  const { server } = ground;
  const before = await mark(ground);
  const held = await nextOf(ground);
  await server.stop(how);
  const goneAt = performance.now();
  await server.start();
  return outcome(ground, { name, who: 'PostgreSQL', before, goneAt, held });
}

async function cutOff(ground: Ground): Promise<Mishap> {
  const who = poller(ground);
  const machine = worldOf(ground).machines.find(({ name }) => name === who);
  const release = await atWork(ground, who);
  const before = await mark(ground);
  machine?.cutOff();
  const goneAt = performance.now();
  release();
  try {
    const held = await heldSince(ground, before);
    const [result] = await Promise.all([
      outcome(ground, { name: 'partition', who, before, goneAt, held }),
      delay(stillMs - silentMs),
    ]);
    return result;
  } finally {
    machine?.rejoin();
  }
}

async function failOver(ground: Ground): Promise<Mishap> {
  const release = await atWork(ground, poller(ground));
  const before = await mark(ground);
  const held = await nextOf(ground);
  await ground.server.stop('crash');
  const goneAt = performance.now();
  release();
  await worldOf(ground).promote();
  return outcome(ground, { name: 'failover', who: 'PostgreSQL', before, goneAt, held });
}

function worldOf({ world }: Ground): World {
  if (world === undefined) throw new Error('this needs machines: npm run test:machines');
  return world;
}

async function mark({ server, url }: Ground): Promise<Before> {
  const [row] = await server.run(url, 'SELECT clock_timestamp()::text AS now');
  return { at: performance.now(), serverTime: row?.['now'] };
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

/** Until the process has several requests at the model, which get no answer before what is given back is called, or all is over. */
async function atWork({ platform, load }: Ground, who: string): Promise<() => void> {
  const release = platform.hold(who);
  let over = false;
  void load.done.then(() => (over = true));
  await until(() => over || (platform.asking.get(who) ?? 0) >= leastAtWork);
  return release;
}

/** Until the last of these answers arrived, or nothing more comes. One that arrived before was only to be noted. */
async function outcome(
  { platform, load }: Ground,
  of: Readonly<{
    name: MishapName;
    who: string;
    before: Before;
    goneAt: number;
    held: readonly Expected[];
  }>,
): Promise<Mishap> {
  const { name, who, before, goneAt } = of;
  const arrival = ({ chat, text }: Expected): number =>
    platform.answers.get(chat)?.find((answer) => answer.text === text)?.at ??
    platform.files.get(chat)?.find(({ name }) => name === text)?.at ??
    Infinity;
  const held = of.held.filter((expected) => arrival(expected) > goneAt);
  await Promise.race([
    load.done,
    heard(platform, () => held.every((expected) => arrival(expected) < Infinity)),
  ]);
  const seconds = (at: number): number => (at - before.at) / 1_000;
  const times = held.map((expected) => seconds(arrival(expected)));
  return {
    name,
    who,
    held: held.length,
    firstS: times.length === 0 ? NaN : Math.min(...times),
    lastS: times.length === 0 ? NaN : Math.max(...times),
    polledS: seconds(platform.polls.find(({ at }) => at > goneAt)?.at ?? Infinity),
    at: before.at,
    overAt: performance.now(),
  };
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
