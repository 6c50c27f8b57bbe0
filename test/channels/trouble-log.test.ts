import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/operator/create-log.ts';
import { untilReached } from '../../src/channels/telegram/create-telegram.ts';
import { createTelegramApi } from '../../src/channels/telegram/telegram-api.ts';
import { createTroubleLog } from '../../src/channels/trouble-log.ts';
import type { Clock } from '../../src/lib/clock.ts';

type Line = Readonly<{ level: number; msg: string; why?: string; times?: number; err?: unknown }>;

/** A log as the bot's, and its lines. */
function openLines(level: 'info' | 'debug') {
  const written: string[] = [];
  const log = createLog({
    level,
    format: 'json',
    redact: (text) => text,
    write: (line) => void written.push(line),
  });
  return { log, written, lines: () => written.map((line) => JSON.parse(line) as Line) };
}

test('L5 Telegram that can not be reached is told in short lines at longer and longer distance', async () => {
  for (const level of ['info', 'debug'] as const) {
    const { log, written, lines } = openLines(level);
    const stopping = new AbortController();
    let slept = 0;
    const clock: Clock = {
      now: () => 0,
      async sleep() {
        if (++slept === 20) stopping.abort(new Error('the test has seen enough'));
      },
    };
    const api = createTelegramApi({ token: '1:canary-token', apiRoot: 'http://127.0.0.1:1' });
    await assert.rejects(
      untilReached(() => api.getMe(), { clock, log, signal: stopping.signal }),
      /seen enough/,
    );
    const warned = lines().filter((line) => line.level === 40);
    assert.deepEqual(
      warned.map(({ times }) => times),
      [undefined, 2, 4, 8, 16],
    );
    for (const { why } of warned) assert.match(why ?? '', /ECONNREFUSED/);
    assert.ok(written.every((line) => !line.includes('canary')));
    const withStack = lines().filter(({ err }) => err !== undefined);
    assert.deepEqual([withStack.length, warned.length], [level === 'info' ? 0 : 20, 5]);
    if (level === 'info') assert.ok(written.every((line) => line.length < 400));
  }
});

test('L5 other trouble, and trouble after it was over, is told at once', () => {
  const { log, lines } = openLines('info');
  const trouble = createTroubleLog(log);
  const away = new Error('no answer', { cause: new Error('ECONNRESET') });
  for (const error of [away, away, away, new Error('502'), away])
    trouble.failed(error, { waitMs: 1 }, 'away');
  trouble.over();
  trouble.failed(away, {}, 'away', 'error');
  assert.deepEqual(
    lines().map(({ why, times, level }) => [why, times, level]),
    [
      ['no answer: ECONNRESET', undefined, 40],
      ['no answer: ECONNRESET', 2, 40],
      ['502', undefined, 40],
      ['no answer: ECONNRESET', undefined, 40],
      ['no answer: ECONNRESET', undefined, 50],
    ],
  );
});
