/**
 * Speed and size, side by side with a bare bot on the same libraries (SPEC B1, B3, B4, B7, M6): `npm run bench`.
 * Figures are printed, never judged: a busy machine makes every one of them worse.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { indexTimes, searchTimes, type LookUpTimes } from './look-up.ts';
import { measureSandbox } from './sandbox.ts';
import { openStage, type Stage, type StageOptions } from './stage.ts';
import { describe, quantile } from './statistics.ts';

const turns = Number(process.env['SKILLET_BENCH_TURNS'] ?? 200);
const starts = Number(process.env['SKILLET_BENCH_STARTS'] ?? 5);
const both = ['bare', 'skillet'] as const;
type Which = (typeof both)[number];

await bench('B1 own time: from an update arriving to its request reaching the model', ownTime);
await bench('B1 whole turn with a model that takes 50 ms', wholeTurn);
await bench('B3 start: from starting the process to its first poll', startTime);
await bench('B4 idle memory: resident, five seconds after a first turn, at the second start', idleMemory);
await bench('B7 a command in the sandbox, and the same started by itself', sandboxed);
await bench('M6 fixed prompt: system and tools with 20 skills', promptSize);
await bench('R2 skills_search over 5,000 skills, side by side with looking for the words alone', () =>
  lookUp(searchTimes(5_000)),
);
await bench('R3 file index of a skill with 1,000 files, side by side with a bare listing', () =>
  lookUp(indexTimes(1_000)),
);

async function bench(title: string, measure: () => Promise<void>): Promise<void> {
  process.stdout.write(`\n${title}\n`);
  await measure();
}

async function ownTime(): Promise<void> {
  const { own } = await measureTurns(0);
  for (const which of both) print(which, describe(own[which]));
  print(
    'skillet above bare',
    `p50 ${(quantile(own.skillet, 0.5) - quantile(own.bare, 0.5)).toFixed(2)} ms, p95 ${(quantile(own.skillet, 0.95) - quantile(own.bare, 0.95)).toFixed(2)} ms`,
  );
}

async function wholeTurn(): Promise<void> {
  const { whole } = await measureTurns(50);
  for (const which of both) print(which, describe(whole[which]));
  print(
    'skillet as a multiple of bare',
    (quantile(whole.skillet, 0.5) / quantile(whole.bare, 0.5)).toFixed(3),
  );
}

async function measureTurns(
  modelMs: number,
): Promise<{ own: Record<Which, number[]>; whole: Record<Which, number[]> }> {
  const stages = await openBoth({ modelMs });
  const own = { bare: [] as number[], skillet: [] as number[] };
  const whole = { bare: [] as number[], skillet: [] as number[] };
  const people = { bare: stages.bare.telegram.person(), skillet: stages.skillet.telegram.person() };
  for (let turn = -20; turn < turns; turn++) {
    for (const which of both) {
      const { telegram, lastAsked } = stages[which];
      const sent = telegram.calls('sendMessage').length;
      const began = performance.now();
      people[which].says(`message ${turn}`);
      await telegram.until('the answer', () => telegram.calls('sendMessage').length > sent);
      if (turn < 0) continue;
      whole[which].push(performance.now() - began);
      own[which].push(lastAsked() - began);
      // Conversations grow: the bare bot has no memory, so every twentieth message comes from somebody new.
      if (turn % 20 === 19) people[which] = telegram.person();
    }
  }
  await closeBoth(stages);
  return { own, whole };
}

async function startTime(): Promise<void> {
  const cases: readonly (readonly [string, StageOptions])[] = [
    ['bare', { bot: 'bare', modelMs: 0 }],
    ['skillet, 100 skills', { bot: 'skillet', modelMs: 0, skills: 100 }],
    ['skillet, 5,000 skills', { bot: 'skillet', modelMs: 0, skills: 5_000 }],
  ];
  for (const [name, options] of cases) {
    const times: number[] = [];
    for (let n = 0; n < starts; n++) {
      const stage = await openStage(options);
      times.push(stage.startMs);
      await stage.close();
    }
    print(
      name,
      `median ${quantile(times, 0.5).toFixed(0)} ms, most ${Math.max(...times).toFixed(0)} ms (${starts})`,
    );
  }
}

async function idleMemory(): Promise<void> {
  const cases: readonly (readonly [string, StageOptions])[] = [
    ['bare, Telegram', { bot: 'bare', modelMs: 0 }],
    ['skillet, Telegram', { bot: 'skillet', modelMs: 0, skills: 100 }],
    ['skillet, Telegram and Slack', { bot: 'skillet', modelMs: 0, skills: 100, slack: true }],
  ];
  for (const [name, options] of cases) {
    // The first start after an upgrade compiles everything, which stays in memory: some 10 MB.
    await (await openStage(options)).close();
    const { telegram, memoryMb, close } = await openStage(options);
    telegram.person().says('hello');
    await telegram.until('the answer', () => telegram.calls('sendMessage').length > 0);
    await delay(5_000);
    print(name, `${(await memoryMb()).toFixed(0)} MB`);
    await close();
  }
}

async function sandboxed(): Promise<void> {
  const measured = await measureSandbox(turns);
  if (typeof measured === 'string') return print('not measured', measured);
  const { bare, bubblewrap } = measured;
  print('started by itself', describe(bare));
  print('bubblewrap', describe(bubblewrap));
  print('overhead', `p50 ${(quantile(bubblewrap, 0.5) - quantile(bare, 0.5)).toFixed(2)} ms`);
}

async function promptSize(): Promise<void> {
  const stage = await openStage({
    bot: 'skillet',
    modelMs: 0,
    skills: 20,
    config: '[skills]\nbundled = false\n',
  });
  stage.telegram.person().says('hello');
  await stage.telegram.until('the answer', () => stage.telegram.calls('sendMessage').length > 0);
  const { system, tools } = stage.messages.requests[0]?.body ?? {};
  const all = JSON.stringify(system).length + JSON.stringify(tools).length;
  const catalogue =
    20 *
    '- **bench-skill-0**: Does thing number 0 when somebody asks for it, and says what came of it.\n'.length;
  print(
    'skillet',
    `${all} characters, about ${Math.round(all / 4)} tokens; without the skills' own text about ${Math.round((all - catalogue) / 4)}`,
  );
  await stage.close();
}

async function lookUp(measured: Promise<LookUpTimes>): Promise<void> {
  const { floor, skillet } = await measured;
  print('floor', describe(floor));
  print('skillet', describe(skillet));
}

async function openBoth(options: Omit<StageOptions, 'bot'>): Promise<Record<Which, Stage>> {
  return {
    bare: await openStage({ ...options, bot: 'bare' }),
    skillet: await openStage({ ...options, bot: 'skillet' }),
  };
}

async function closeBoth(stages: Record<Which, Stage>): Promise<void> {
  for (const which of both) await stages[which].close();
}

function print(name: string, value: string): void {
  process.stdout.write(`  ${name.padEnd(32)} ${value}\n`);
}
