import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Channel } from '../../src/core/channel.ts';
import type { Conversation } from '../../src/core/conversation.ts';
import { streamedIn } from '../servers/slack/stream-chunks.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

/** Some 19,000 characters, written in 38 seconds. */
const answer = Array.from(
  { length: 360 },
  (_, index) => `${index % 9 === 0 ? '## ' : '- '}Point ${index} is **good**, see [page](https://a.bc/p).`,
).join('\n\n');
const stepMs = 250;
const stepLength = Math.ceil((answer.length * stepMs) / 38_000);

/** A place where a preview is shown, and what the platform was asked so far: one entry a call. */
type Stage = Readonly<{
  channel: Channel;
  clock: ManualClock;
  place: Conversation;
  /** `same`: equal for calls that change nothing, empty for those that add nothing. */
  calls(): readonly Readonly<{ text: string; same: string }>[];
}>;

async function onTelegram(t: TestContext, where: 'private' | 'group'): Promise<Stage> {
  const clock = createManualClock();
  const bot = await startTelegramBot({ clock, paced: true, server: { flood: false }, start: false });
  t.after(() => bot[Symbol.asyncDispose]());
  const ann = bot.server.person();
  const chat = where === 'group' ? bot.server.group().id : ann.id;
  ann.says('hi', where === 'group' ? { in: bot.server.group() } : {});
  return {
    channel: bot.channel,
    clock,
    place: { channel: 'telegram', chat: String(chat) },
    calls: () =>
      ['sendMessageDraft', 'sendMessage', 'editMessageText'].flatMap((method) =>
        bot.server.calls(method).map(({ args }) => ({
          text: String(args['text']),
          same: String(args['text']),
        })),
      ),
  };
}

async function onSlack(t: TestContext, where: 'private' | 'group'): Promise<Stage> {
  const clock = createManualClock(Date.now());
  const { slack, channel } = await connectSlackChannel(t, {
    channel: { agentView: true, paced: true, clock },
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = where === 'group' ? slack.people.mention(anna, room, 'hi') : slack.people.dm(anna, 'hi');
  await clock.runUntil(asked.delivered);
  return {
    channel,
    clock,
    place: { channel: 'slack', chat: asked.channel, thread: asked.ts },
    calls: () =>
      slack.calls.all().flatMap(({ method, args }) => {
        if (!/^chat\.(?:postMessage|update|startStream|appendStream)$/.test(method)) return [];
        const { chunks, text, blocks } = args;
        const added = streamedIn(args);
        const same = JSON.stringify([text, blocks]);
        if (chunks === undefined) return [{ text: JSON.stringify(blocks ?? text), same }];
        return [{ text: added, same: added }];
      }),
  };
}

const newestIn = (texts: readonly string[]): number =>
  Math.max(
    -1,
    ...texts.flatMap((text) => [...text.matchAll(/Point (\d+) /g)].map(([, point]) => Number(point))),
  );

const stages = { Telegram: onTelegram, Slack: onSlack };
for (const [platform, open] of Object.entries(stages))
  for (const where of ['private', 'group'] as const)
    test(`H6 H8 ${platform}, ${where}: a long answer shows its newest piece all the time, and no call repeats one`, async (t) => {
      const { channel, clock, place, calls } = await open(t, where);
      const work = keptPlaceholder();
      const lags: number[] = [];
      for (let end = stepLength; end < answer.length + stepLength; end += stepLength) {
        const markdown = answer.slice(0, end);
        await channel.status(place, { kind: 'words', markdown }, work);
        await clock.advance(stepMs);
        await quiet(calls);
        lags.push(newestIn([markdown]) - newestIn(calls().map(({ text }) => text)));
      }
      await clock.advance(4_000);
      await quiet(calls);
      const made = calls();
      const repeated = made.filter(({ same }, index) => same === made[index - 1]?.same || same === '');
      const perSecond = 360 / 38;
      t.diagnostic(
        `${made.length} calls, ${repeated.length} repeated, behind by ${(Math.max(...lags.slice(8)) / perSecond).toFixed(1)} s at most`,
      );
      assert.deepEqual(repeated, []);
      assert.equal(newestIn(made.slice(-1).map(({ text }) => text)), 359);
      assert.ok(Math.max(...lags) / perSecond < 5, 'it stood still');
      await channel.status(place, undefined, work);
    });

/** What was asked has been answered. */
async function quiet(calls: Stage['calls']): Promise<void> {
  let seen = -1;
  for (let still = 0; still < 40; still += 1) {
    await new Promise(setImmediate);
    if (calls().length !== seen) still = 0;
    seen = calls().length;
  }
}
