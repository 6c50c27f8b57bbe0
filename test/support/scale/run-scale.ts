import { messagesIn } from '../lean/lean-model.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { startLeanPlatform, type LeanPlatform } from '../lean/lean-platform.ts';
import type { PostgresServer } from '../postgres.ts';
import { countScale, type Repeat, type ScaleCounts } from './count-scale.ts';
import { createDatabaseCost, type Statement } from './database-cost.ts';
import { createFleet } from './fleet.ts';
import { mishaps, type Mishap, type MishapName, type World } from './mishaps.ts';
import { countFiles, type FileCounts } from './scale-files.ts';
import { startScaleLoad, type Wait } from './scale-load.ts';

export type ScaleOptions = Readonly<{
  conversations: number;
  /** At least: people go on until the last mishap is over. */
  messages: number;
  processes: number;
  /** `[agent] concurrency` of each process. */
  concurrency: number;
  /** Keep to Telegram's limits: 30 sends a second. */
  paced: boolean;
  /** Milliseconds the model thinks. */
  modelMs: number;
  /** Messages a person says without waiting for the answers. */
  ahead: number;
  /** People send files and want them back (`wantedBy`). */
  files: boolean;
  /** One after another, spread evenly over the messages. */
  mishaps: readonly MishapName[];
  /** It is over when nobody heard anything for so long. */
  patienceMs: number;
  /** Rejects after this time, and says what was under way. */
  limitMs?: number;
}>;

export type ScaleResult = Readonly<{
  counts: ScaleCounts;
  files: FileCounts;
  mishaps: readonly Mishap[];
  /** Shortest first. */
  waits: readonly Wait[];
  /** The run in stretches: quiet ones, and those from a mishap to its end. */
  stretches: readonly Readonly<{ name: string; seconds: number; turns: number }>[];
  processes: readonly Readonly<{
    name: string;
    /** Requests at the model, and answers sent. */
    asked: number;
    sent: number;
    polls: number;
    processorMs: number;
    memoryMb: readonly number[];
    errors: readonly string[];
    /** What it logged of queues that changed hands. */
    takeovers: readonly string[];
    /** How it ended when it was told to. */
    code: number | null;
  }>[];
  /** Lines about the work that stay beside the answers. */
  lines: readonly string[];
  conflicts: number;
  databaseMs: number;
  statements: readonly Statement[];
  /** Rows of messages or parts that were not settled in the end. */
  left: number;
}>;

const sampleMs = 1_000;

/** Several processes on one PostgreSQL answer many conversations while things go wrong (Q9); with `world`, on several machines. */
export async function runScale(
  server: PostgresServer,
  options: ScaleOptions,
  world?: World,
): Promise<ScaleResult> {
  const url = await server.database();
  const cost = await createDatabaseCost(server, url, { counting: world === undefined });
  const { modelMs, processes, concurrency, paced } = options;
  const platform = await startLeanPlatform({ modelMs, host: world?.host ?? '127.0.0.1' });
  const store = world?.storeOf(url) ?? url;
  const machines = world?.machines;
  const fleet = await createFleet(platform, { processes, concurrency, paced, store, machines });
  const sampling = new AbortController();
  const over = new AbortController();
  const step = { now: 'the start of all' };

  async function carryOut(): Promise<ScaleResult> {
    // All at the same moment, on an empty database.
    await Promise.all(fleet.names.map(fleet.start));
    await cost.reset();
    const sample = (): Promise<unknown> => Promise.all([fleet.sample(), cost.sample()]);
    const sampled = repeat(sample, sampling.signal);
    const load = startScaleLoad(platform, options);
    const began = performance.now();
    const happened: Mishap[] = [];
    for (const [index, name] of options.mishaps.entries()) {
      step.now = name;
      await load.reached(Math.floor((options.messages * (index + 1)) / (options.mishaps.length + 1)));
      happened.push(await mishaps[name]({ server, url, platform, fleet, load, world }));
    }
    step.now = 'the last answers';
    load.finish();
    await load.done;
    step.now = 'settling';
    const ended = performance.now();
    const left = await untilSettled(server, url, options.patienceMs);
    await sample();
    sampling.abort();
    await sampled;
    const statements = await cost.statements();
    step.now = 'the end of all';
    const exits = new Map(
      await Promise.all(fleet.names.map(async (name) => [name, (await fleet.stop(name)).code] as const)),
    );
    const answers = [...platform.answers.values()].flat();
    const repeats = await readRepeats(server, url);
    return {
      counts: countScale(load.said, platform.answers, repeats),
      files: countFiles(options.files ? load.said : new Map(), platform.files, repeats),
      mishaps: happened,
      waits: load.waits
        .toSorted((a, b) => a.seconds - b.seconds)
        .map((wait) => ({ ...wait, at: wait.at - began })),
      stretches: stretchesOf(platform, began, ended, happened),
      processes: fleet.names.map((name) => ({
        name,
        asked: platform.asked.get(name) ?? 0,
        sent: answers.filter(({ by }) => by === name).length,
        polls: platform.polls.filter(({ by }) => by === name).length,
        ...fleet.costs(name),
        errors: fleet.errors(name),
        takeovers: fleet.takeovers(name),
        code: exits.get(name) ?? null,
      })),
      lines: platform.lines(),
      conflicts: platform.conflicts(),
      databaseMs: cost.processorMs(),
      statements,
      left,
    };
  }

  async function tooLate(ms: number): Promise<never> {
    await delay(ms, undefined, { signal: over.signal });
    const asking = [...platform.asking].map(([name, count]) => `${name} ${count}`).join(', ');
    const last = platform.polls.at(-1);
    throw new Error(
      `after ${ms / 1_000} s it was still at ${step.now}; requests at the model: ${asking}; ` +
        `last poll by ${last?.by ?? 'nobody'} ${Math.round(performance.now() - (last?.at ?? 0))} ms ago; errors: ` +
        fleet.names.map((name) => `${name}: ${fleet.errors(name).slice(-5).join(' | ')}`).join('; '),
    );
  }

  try {
    const { limitMs } = options;
    return await (limitMs === undefined ? carryOut() : Promise.race([carryOut(), tooLate(limitMs)]));
  } finally {
    over.abort();
    sampling.abort();
    await fleet.close();
    await platform.close();
  }
}

async function repeat(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await delay(sampleMs, undefined, { signal }).catch(() => undefined);
  }
}

/** What a dead process left behind is settled a while after people heard the answer: sent again, perhaps. */
async function untilSettled(server: PostgresServer, url: string, patienceMs: number): Promise<number> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const [row] = await server.run(
      url,
      `SELECT (SELECT count(*) FROM skillet.inbox WHERE status <> 'done')
         + (SELECT count(*) FROM skillet.outbox WHERE status <> 'sent') AS left`,
    );
    const left = Number(row?.['left']);
    if (left === 0 || performance.now() > until) return left;
    await delay(200);
  }
}

async function readRepeats(server: PostgresServer, url: string): Promise<readonly Repeat[]> {
  const rows = await server.run(
    url,
    `SELECT split_part(queue, ':', 2)::bigint AS chat, repeats,
       coalesce(part::json -> 'file' ->> 'name', part::json ->> 'markdown') AS text
     FROM skillet.outbox WHERE repeats > 0`,
  );
  return rows.flatMap(({ chat, text, repeats }) =>
    messagesIn(String(text)).map((each) => ({ chat: Number(chat), text: each, repeats: Number(repeats) })),
  );
}

function stretchesOf(
  platform: LeanPlatform,
  began: number,
  ended: number,
  happened: readonly Mishap[],
): ScaleResult['stretches'] {
  const times = [...platform.answers.values()].flat().map(({ at }) => at);
  const stretch = (name: string, from: number, to: number) => ({
    name,
    seconds: (to - from) / 1_000,
    turns: times.filter((at) => at >= from && at < to).length,
  });
  const starts = happened.map(({ overAt }) => overAt);
  return [
    stretch('before', began, happened[0]?.at ?? ended),
    ...happened.flatMap(({ name, at, overAt }, index) => [
      stretch(`during ${name}`, at, Math.min(overAt, ended)),
      stretch(`after ${name}`, Math.min(starts[index] ?? ended, ended), happened[index + 1]?.at ?? ended),
    ]),
  ];
}
