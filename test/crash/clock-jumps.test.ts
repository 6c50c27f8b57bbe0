import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { BotProcess } from '../support/crash/bot-process.ts';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';

const hour = 3_600_000;
/** Far beyond what any of these waits takes, and far below an hour. */
const patienceMs = 240_000;

/** A bot whose clock moves by each of `shifts` at `jump()`. */
async function startJumping(
  t: TestContext,
  shifts: readonly number[],
): Promise<{ stage: CrashStage; bot: BotProcess; jump(): Promise<void> }> {
  // Paced, as with the real platform.
  const stage = await openCrashStage({ channels: ['telegram'], telegramToml: '' });
  t.after(() => stage.close());
  const bot = stage.start({
    preload: { file: 'shift-clock.ts', env: { SKILLET_CLOCK_SHIFTS: shifts.join(',') } },
  });
  assert.ok(await bot.ready);
  let by = 0;
  const left = [...shifts];
  return {
    stage,
    bot,
    async jump() {
      by += left.shift() ?? 0;
      bot.signal('SIGUSR2');
      assert.ok(await bot.logged(`the clock was moved by ${by}"`));
    },
  };
}

/** Rejects, naming it, when this does not come in time. */
async function inTime<T>(what: string, thing: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(patienceMs, undefined, { signal: over.signal }).then(
    () => assert.fail(`${what} waits for the old time`),
    () => assert.fail(what),
  );
  try {
    return await Promise.race([thing, late]);
  } finally {
    over.abort();
  }
}

for (const [name, shifts] of [
  ['set back an hour', [-hour]],
  ['a day ahead and then set right', [24 * hour, -24 * hour]],
] as const) {
  test(`Q3 Q6 H8 with the clock ${name} while things wait, nothing waits for the old time`, async (t) => {
    const { stage, bot, jump } = await startJumping(t, shifts);
    const { telegram, model } = stage;
    const [ann, ben, cid] = ['Ann', 'Ben', 'Cid'].map((each) => telegram.person({ name: each }));
    assert.ok(ann !== undefined && ben !== undefined && cid !== undefined);
    for (const [index, person] of [ann, ben, cid].entries()) {
      person.says(`say n${index + 1}`);
      await person.dm.nextMessage(`answer n${index + 1}`);
    }
    const jumps = [...shifts];
    while (jumps.length > 1) {
      await jump();
      jumps.shift();
    }
    // A reply that the platform did not take waits to be sent again.
    telegram.faults.add({ method: 'sendMessage', badGateway: true });
    ann.says('say n4');
    await bot.logged('a part was not delivered yet');
    // The first part of a long text waits for the rest of it.
    ben.says(`${'so '.repeat(1_365)}n`);
    await telegram.until('the long text is taken', () => telegram.queue.waiting().length === 0);
    // More than the pace lets through at once.
    for (let n = 10; n < 18; n++) cid.says(`say n${n}`);
    await cid.dm.nextMessage('answer n10');
    await jump();
    await inTime('a reply to be sent again', ann.dm.nextMessage('answer n4'));
    await inTime('a long text', ben.dm.nextMessage('answer'));
    await inTime('a paced reply', cid.dm.nextMessage(/answer .*n17/));
    // And what comes afterwards is answered as ever.
    ann.says('mark n20');
    await inTime('a new message', ann.dm.nextMessage('answer n20'));
    assert.deepEqual(await bot.stop(), { code: 0, signal: null });
    assert.deepEqual(model.markedTwice(), []);
  });
}

test('Q7 with the clock set back while the bot is down, what waited for a moment does not wait for the old time', async (t) => {
  const { stage, bot, jump } = await startJumping(t, [24 * hour]);
  const ann = stage.telegram.person();
  ann.says('say n1');
  await ann.dm.nextMessage('answer n1');
  await jump();
  stage.telegram.faults.add({ method: 'sendMessage', badGateway: true });
  ann.says('say n2');
  await bot.logged('a part was not delivered yet');
  await bot.kill();
  const next = stage.start();
  await inTime('a reply to be sent again', ann.dm.nextMessage('answer n2'));
  assert.deepEqual(await next.stop(), { code: 0, signal: null });
});
