import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isRun, resultsIn } from '../../test/support/call-steps.ts';
import type { MessagesRequest } from '../../test/servers/messages/request-shape.ts';
import { startWholeBot, type WholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';

/** Files of `src` of which at least one function ran, for each of three paths through the bot. */
export type ExecutedFiles = Readonly<{ hello: string[]; script: string[]; approval: string[] }>;

const open = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 3600\n';
const confirm = '[policy]\nmoderate = "confirm"\n';
const call = (name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }],
});

/** Has the dice rolled by their script, and says a number only if it was shown one. */
function roller(body: MessagesRequest) {
  const last = JSON.stringify(body.messages.at(-1));
  const rolled = /1d6: ([1-6]) = \1|Rolled: ([1-6])/.exec(last);
  if (rolled !== null) return `Rolled: ${rolled[1] ?? rolled[2]}`;
  if (!last.includes('roll') && !isRun(body)) return 'Hello.';
  if (/status.{0,5}running/.test(last)) return 'It waits for you.';
  if (resultsIn(body).length > 0) return `Not rolled: ${last.slice(0, 400)}`;
  return isRun(body)
    ? call('skills_run_script', { path: 'scripts/roll.sh', args: ['1d6'] })
    : call('use_skill', { skill: 'dice', message: 'Roll 1d6.' });
}

/** Runs each path against the test servers of Telegram and of the model, on the embedded store. */
export async function executedFiles(root: string): Promise<ExecutedFiles> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const source = `${pathToFileURL(root).href}/src/`;
  /** The files that ran since the last look: each look sets the counts of all functions back to zero. */
  const look = async (): Promise<string[]> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url, functions }) => url.startsWith(source) && ran(functions))
      .map(({ url }) => url.slice(source.length))
      .sort();
  };
  /** Begins once the bot has read its config a second time, as it does after each start. */
  const during = async (path: () => Promise<unknown>): Promise<string[]> => {
    do await sleep(500);
    while ((await look()).some((file) => file.startsWith('config/')));
    await path();
    return look();
  };
  const hello = await withBot({ toml: open }, (bot) => {
    const ann = bot.telegram.person({ name: 'Ann' });
    return during(async () => {
      ann.says('hello');
      await ann.dm.nextMessage(/^Hello\./);
    });
  });
  const script = await withBot({ toml: open, sandbox: 'auto' }, (bot) => {
    const ann = bot.telegram.person({ name: 'Ann' });
    return during(async () => {
      ann.says('roll');
      await ann.dm.nextMessage(/^Rolled: [1-6]/);
    });
  });
  const approval = await withBot({ toml: open + confirm, sandbox: 'auto' }, async (bot) => {
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('roll');
    const question = await ann.dm.nextMessage(/wants to use/);
    await bot.restart();
    return during(async () => {
      ann.presses(question.id, 'Approve');
      await ann.dm.nextMessage(/^Rolled: [1-6]/);
    });
  });
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  return { hello, script, approval };
}

/** The body of a module is no function: it runs when the module is loaded. */
function ran(functions: readonly Profiler.FunctionCoverage[]): boolean {
  return functions.some(({ functionName, ranges }, at) => {
    const isBody = at === 0 && functionName === '' && ranges[0]?.startOffset === 0;
    return !isBody && (ranges[0]?.count ?? 0) > 0;
  });
}

async function withBot<T>(options: WholeBotOptions, use: (bot: WholeBot) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  const after = (end: () => Promise<void>): void => void ends.push(end);
  try {
    return await use(await startWholeBot({ after }, { ...options, script: roller }));
  } finally {
    for (const end of ends) await end();
  }
}
