/**
 * Speed and size, side by side with a bare bot on the same libraries (SPEC B1, B3, B4, B7, M6, N1): `npm run bench`.
 * Figures are printed, never judged: a busy machine makes every one of them worse. `SKILLET_BENCH_BESIDE` names another
 * checkout with its packages installed, whose own time, start and memory are then measured in the same run, turn by turn.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { measureSettings } from './chat-settings.ts';
import { folderTimes } from './folders.ts';
import { watchOverview } from './dashboard.ts';
import { doctorTimes } from './doctor.ts';
import { indexTimes, searchTimes, type LookUpTimes } from './look-up.ts';
import { recallTimes, timesOn } from './recall.ts';
import { routineTimes, withSleeping } from './routines.ts';
import { rehearseWeek } from './rehearse.ts';
import { measureSandbox } from './sandbox.ts';
import { answersTo, knownPerson, openStage, type StageOptions } from './stage.ts';
import { measureStreaming } from './streaming.ts';
import { describe, quantile } from './statistics.ts';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';
import { pngOf } from '../test/support/sent-files.ts';

const turns = Number(process.env['SKILLET_BENCH_TURNS'] ?? 200);
const answers = Number(process.env['SKILLET_BENCH_ANSWERS'] ?? 3);
const starts = Number(process.env['SKILLET_BENCH_STARTS'] ?? 5);
const beside = process.env['SKILLET_BENCH_BESIDE'];
/** A photo counts as a tenth of a day's tokens at the test server, and nobody is to be refused here. */
const noLimits = ['limits', 'limits.chat', 'limits.global']
  .map((table) => `[${table}]\ntokens_per_day = 0\nusd_per_day = 0\n`)
  .join('');

type Contender = Readonly<{ name: string } & Pick<StageOptions, 'bot' | 'checkout' | 'config'>>;
const bare: Contender = { name: 'bare', bot: 'bare' };
const skillets: readonly Contender[] = [
  { name: 'skillet', bot: 'skillet' },
  ...(beside === undefined ? [] : [{ name: 'beside', bot: 'skillet', checkout: beside } as const]),
];
const contenders = [bare, ...skillets] as const;

await bench('B1 own time: from an update arriving to its request reaching the model', ownTime);
await bench('B1 whole turn with a model that takes 50 ms', wholeTurn);
await bench(
  'H6 an answer that the model writes for some 8 s: first words, and calls to the platform',
  streaming,
);
await bench(
  'M16 a turn with one call: first words and tokens, with the settings for a chat beside those of the API',
  chatSettings,
);
await bench('B3 start: from starting the process to its first poll', startTime);
await bench('L2 skillet doctor without the network, the whole process, beside --help', doctorTime);
await bench('L20 skillet rehearse over a week of 5,000 messages, the whole process', rehearsal);
await bench('B4 idle memory: resident, five seconds after a first turn, at the second start', idleMemory);
await bench('M12 memory: resident, before and after twenty photos in a row', pictureMemory);
await bench('B7 a command in the sandbox, and the same started by itself', sandboxed);
await bench('M6 fixed prompt: system and tools with 20 skills', promptSize);
await bench('R2 skills_search over 5,000 skills, side by side with looking for the words alone', () =>
  lookUp(searchTimes(5_000)),
);
await bench('R3 file index of a skill with 1,000 files, side by side with a bare listing', () =>
  lookUp(indexTimes(1_000)),
);
await bench('K5 recall in a group over 100,000 entries, a tenth of them there, on SQLite', async () =>
  print('skillet', describe(await recallTimes(100_000))),
);
await bench('K5 the same on PostgreSQL', recallOnPostgres);
await bench('Q14 a folder of a conversation on PostgreSQL, two machines', foldersOnPostgres);
await bench('L10 the overview in browsers, after 200 turns: processor time a second', overview);
await bench('N1 10,000 sleeping routines: own time of a turn and memory, a look, 100 firings', routines);

async function bench(title: string, measure: () => Promise<void>): Promise<void> {
  process.stdout.write(`\n${title}\n`);
  await measure();
}

async function ownTime(): Promise<void> {
  const [floor, ...rest] = await measureTurns(0, contenders);
  for (const { name, own } of [floor, ...rest]) print(name, describe(own));
  for (const { name, own } of rest) {
    const above = (share: number): string => (quantile(own, share) - quantile(floor.own, share)).toFixed(2);
    print(`${name} above bare`, `p50 ${above(0.5)} ms, p95 ${above(0.95)} ms`);
  }
}

async function wholeTurn(): Promise<void> {
  const [floor, ...rest] = await measureTurns(50, contenders);
  for (const { name, whole } of [floor, ...rest]) print(name, describe(whole));
  for (const { name, whole } of rest) {
    print(`${name} as a multiple of bare`, (quantile(whole, 0.5) / quantile(floor.whole, 0.5)).toFixed(3));
  }
}

async function chatSettings(): Promise<void> {
  for (const { name, firstWords, whole, written } of await measureSettings(answers)) {
    print(name, `first words ${describe(firstWords)}`);
    print(name, `whole answer ${describe(whole)}, ${written} tokens written`);
  }
}

async function streaming(): Promise<void> {
  for (const { where, firstWords, whole, calls } of await measureStreaming(answers)) {
    print(`${where}: first words`, `${describe(firstWords)} after the request`);
    print(`${where}: whole answer`, `${describe(whole)} after the request`);
    print(
      `${where}: calls an answer`,
      calls.map(([method, count]) => `${method} ${count.toFixed(1)}`).join(', '),
    );
  }
}

type Turns = { name: string; own: number[]; whole: number[] };

async function measureTurns(
  modelMs: number,
  [first, ...others]: readonly [Contender, ...Contender[]],
): Promise<[Turns, ...Turns[]]> {
  const open = async ({ name, bot, checkout, config }: Contender) => {
    const stage = await openStage({ bot, checkout, config, modelMs });
    return { stage, person: await knownPerson(stage), turns: { name, own: [], whole: [] } as Turns };
  };
  const floor = await open(first);
  const measured = [floor];
  for (const one of others) measured.push(await open(one));
  for (let turn = -20; turn < turns; turn++) {
    // In turn: what follows a larger process finds less of its own in the processor's caches.
    for (const one of turn % 2 === 0 ? measured : measured.toReversed()) {
      const { telegram, lastAsked } = one.stage;
      const { person } = one;
      const before = answersTo(person);
      const began = performance.now();
      person.says(`message ${turn}`);
      await telegram.until('the answer', () => answersTo(person) > before || undefined);
      if (turn < 0) continue;
      one.turns.whole.push(performance.now() - began);
      one.turns.own.push(lastAsked() - began);
      // Conversations grow: the bare bot has no memory, so every twentieth message comes from somebody new.
      if (turn % 20 === 19) one.person = await knownPerson(one.stage);
    }
  }
  for (const { stage } of measured) await stage.close();
  return [floor.turns, ...measured.slice(1).map((one) => one.turns)];
}

async function startTime(): Promise<void> {
  const cases = [
    { ...bare, modelMs: 0 },
    ...[100, 5_000].flatMap((skills) =>
      skillets.map(({ name, ...bot }) => ({
        ...bot,
        name: `${name}, ${skills.toLocaleString('en')} skills`,
        modelMs: 0,
        skills,
      })),
    ),
  ];
  const times = cases.map(() => [] as number[]);
  for (let n = 0; n < starts; n++) {
    for (const [at, options] of cases.entries()) {
      const stage = await openStage(options);
      times[at]?.push(stage.startMs);
      await stage.close();
    }
  }
  for (const [at, { name }] of cases.entries()) {
    const all = times[at] ?? [];
    print(
      name,
      `median ${quantile(all, 0.5).toFixed(0)} ms, most ${Math.max(...all).toFixed(0)} ms (${starts})`,
    );
  }
}

async function rehearsal(): Promise<void> {
  const { seconds, megabytes, judged } = await rehearseWeek(5_000);
  print('skillet', `${seconds.toFixed(1)} s, ${Math.round(megabytes)} MB at most, ${judged} entries judged`);
}

async function doctorTime(): Promise<void> {
  for (const skills of [0, 100]) {
    const { help, doctor } = await doctorTimes(starts, skills);
    print(`help, ${skills} skills of its own`, describe(help));
    print(`doctor, ${skills} skills of its own`, describe(doctor));
  }
}

async function idleMemory(): Promise<void> {
  const cases = contenders.flatMap(({ name, ...bot }) => [
    { ...bot, name: `${name}, Telegram`, skills: bot.bot === 'bare' ? 0 : 100, slack: false },
    ...(bot.bot === 'bare'
      ? []
      : [{ ...bot, name: `${name}, Telegram and Slack`, skills: 100, slack: true }]),
  ]);
  for (const { name, ...options } of cases) {
    // The first start after an upgrade compiles everything, which stays in memory: some 10 MB.
    await (await openStage({ ...options, modelMs: 0 })).close();
    print(name, `${(await idleMb(options)).toFixed(0)} MB`);
  }
}

async function idleMb(options: Omit<StageOptions, 'modelMs'>): Promise<number> {
  const stage = await openStage({ ...options, modelMs: 0 });
  const { memoryMb, close } = stage;
  await knownPerson(stage);
  await delay(5_000);
  const mb = await memoryMb();
  await close();
  return mb;
}

/** Each of 300 kB, as Telegram gives photos; each request holds all before it. */
async function pictureMemory(): Promise<void> {
  for (const { name, ...options } of skillets) {
    const stage = await openStage({ ...options, modelMs: 0, config: noLimits });
    const { telegram, memoryMb, close } = stage;
    const person = await knownPerson(stage);
    await delay(5_000);
    const before = await memoryMb();
    let most = before;
    for (let photo = 1; photo <= 20; photo++) {
      person.sends({ kind: 'photo', bytes: pngOf(String(photo), { bytes: 300_000 }), caption: 'and this?' });
      await telegram.until('the answer', () => answersTo(person) > photo || undefined);
      most = Math.max(most, await memoryMb());
    }
    await delay(5_000);
    const [first, highest, after] = [before, most, await memoryMb()].map((mb) => mb.toFixed(0));
    print(name, `${first} MB, at most ${highest} MB, five seconds later ${after} MB`);
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

async function recallOnPostgres(): Promise<void> {
  const server = await startPostgres();
  if (server === undefined) return print('not measured', noPostgres);
  try {
    const url = await server.database();
    const analyze = () => server.run(url, 'VACUUM ANALYZE');
    print('skillet', describe(await timesOn(url, 100_000, analyze)));
  } finally {
    await server.close();
  }
}

async function overview(): Promise<void> {
  for (const { browsers, bot, dashboard } of await watchOverview([0, 1, 8], turns, 10))
    print(`${browsers} browsers`, `bot ${bot.toFixed(0)} ms, dashboard ${dashboard.toFixed(0)} ms`);
}

async function routines(): Promise<void> {
  await withSleeping(0, (none) =>
    withSleeping(10_000, async (many) => {
      // Each on a store of its own: the platform's servers number their messages from the same start.
      const on = async (name: string, copy: () => Promise<string>) =>
        ({ name, bot: 'skillet', config: `[store]\nurl = "${await copy()}"\n` }) as const;
      const both = [await on('no routines', none), await on('10,000 routines', many)] as const;
      for (const { name, own } of await measureTurns(0, both)) print(`${name}: own time`, describe(own));
      for (const [name, copy] of [
        ['no routines', none],
        ['10,000 routines', many],
      ] as const) {
        const memory: number[] = [];
        for (let n = 0; n < starts; n++) memory.push(await idleMb(await on(name, copy)));
        print(`${name}: idle memory`, `median ${quantile(memory, 0.5).toFixed(1)} MB (${starts})`);
        const { looks, delays } = await routineTimes(await copy(), 100);
        print(`${name}: a look`, describe(looks));
        print(`${name}: due to stored`, describe(delays));
      }
    }),
  );
}

async function promptSize(): Promise<void> {
  const stage = await openStage({
    bot: 'skillet',
    modelMs: 0,
    skills: 20,
    config: '[skills]\nbundled = false\n',
  });
  await knownPerson(stage);
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

function print(name: string, value: string): void {
  process.stdout.write(`  ${name.padEnd(32)} ${value}\n`);
}

async function foldersOnPostgres(): Promise<void> {
  const server = await startPostgres({ durable: true });
  if (server === undefined) return print('skipped', noPostgres);
  try {
    const { unchanged, stored, fetched } = await folderTimes(await server.database());
    print('taken, unchanged', describe(unchanged));
    print('100 files of 20 MB', `stored in ${stored.toFixed(0)} ms, fetched in ${fetched.toFixed(0)} ms`);
  } finally {
    await server.close();
  }
}
