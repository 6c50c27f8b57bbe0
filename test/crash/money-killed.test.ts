import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { Person } from '../servers/telegram/person.ts';
import type { SentMessage } from '../servers/telegram/room.ts';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const answer = 'UPDATE (skillet\\.)?pending_requests SET state = .answered';
const allowance = 'INSERT INTO (skillet\\.)?keyed.*"allowances"';

/** Steps of a question about money, each of which a process ends at. Undefined: while the question is open. */
const steps: Readonly<Record<string, KillAt | undefined>> = {
  'the question is stored, and nobody has seen it': {
    at: 'INSERT INTO (skillet\\.)?pending_requests',
    when: 'committed',
  },
  'the question is open': undefined,
  'the yes is stored, and the money is not added': { at: answer, when: 'committed' },
  'the money is added, and the work has not continued': { at: allowance, when: 'committed' },
};

const modelToml = 'price_in = 0\nprice_cache_read = 0\nprice_cache_write = 0\nprice_out = 10_000';
const question = /May I spend more than a budget allows\?/;

type Script = (body: MessagesRequest) => ServerStep;

/** A model that looks three times for about 17 cents each, and answers. */
const looker: Script = (body) => {
  const looked = JSON.stringify(body.messages).split('"tool_result"').length - 1;
  if (looked === 3) return 'Looked.';
  return { content: [{ type: 'tool_use', id: `toolu_${looked}`, name: 'skills_list', input: {} }] };
};

async function stageOf(
  of: Readonly<{ storeUrl?: string }>,
  limits: string,
  script: Script,
): Promise<CrashStage> {
  const botToml = 'owner = ["telegram:42"]';
  return openCrashStage({
    ...of,
    ...{ channels: ['telegram'], modelToml, botToml, toml: `[limits]\n${limits}`, script },
  });
}

for (const store of storeNames)
  for (const [name, kill] of Object.entries(steps))
    test(`G6 on the ${store} store kill -9 when ${name}: one question, one yes, the work continues`, async (t) => {
      if (store !== 'embedded' && !thorough && kill !== undefined) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const stage = await stageOf(opened.options, 'usd_per_day = 0.5', looker);
      t.after(stage.close);
      const first = stage.start(kill === undefined ? {} : { preload: killingAt(kill) });
      await first.ready;
      const owen = await owner(stage);
      const ann = stage.telegram.person({ name: 'Ann', id: 43 });
      ann.says('look');
      const isAsked = (sent: SentMessage): boolean => question.test(sent.text);
      const shown = (): SentMessage | undefined => owen.dm.sent().find(isAsked);
      if (name !== 'the question is stored, and nobody has seen it') {
        await ann.dm.nextMessage(/so I asked those who decide/);
        // A message whose receipt is not stored is sent once more (Q6).
        await until(async () => (await readStored(stage.storeUrl)).unsent === 0);
        const asked = shown();
        assert.ok(asked);
        if (kill === undefined) await first.kill();
        else owen.presses(asked.id, 'Allow 1 $');
      }
      if (kill !== undefined) await hasKilledItself(first, name);
      const second = stage.start();
      const press = async (): Promise<void> => {
        await stage.telegram.until(
          'the question is there',
          () => shown() ?? owen.dm.sent().find(({ text }) => /allowed/.test(text)),
        );
        const asked = shown();
        if (asked !== undefined) owen.presses(asked.id, 'Allow 1 $');
      };
      await Promise.all([ann.dm.nextMessage('Looked.'), press()]);
      await stage.telegram.until('the question says that it was answered', () =>
        owen.dm.sent().find(({ text }) => /^Owen allowed 1 US dollars more\./.test(text)),
      );
      assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
      const asked = owen.dm.sent().filter(({ text }) => /Budget: telegram:43/.test(text)).length;
      // A send that the death cut off is repeated (Q6).
      assert.ok(asked >= 1 && asked <= 1 + second.resent(), String(asked));
      assert.equal(stage.messages.requests.length, 4, 'no step is repeated');
      const kept = await openStore(stage.storeUrl);
      t.after(kept.close);
      const allowances: unknown[] = [];
      for await (const [, value] of kept.keyed('allowances').iterator()) allowances.push(value);
      assert.deepEqual(
        allowances.map((one) => (one as { usd: number }).usd),
        [1],
      );
      const audited = await budgetLines(stage.folder);
      // A kill between the line and the money leaves that line, and the next process does not write it again.
      assert.equal(audited.length, 1);
      assert.match(audited[0] ?? '', /"verdict":"allowed"/);
    });

for (const store of storeNames)
  test(`G6 on the ${store} store kill -9 between a warning and its mark: nobody is warned twice`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const limits = 'usd_per_day = 0\nusd_per_month = 0.4';
    const stage = await stageOf(
      opened.options,
      limits,
      () => 'An answer that costs about twenty cents and some more, as it is this long.',
    );
    t.after(stage.close);
    const mark = { at: 'INSERT INTO (skillet\\.)?keyed.*"budget-warnings"', when: 'before' } as const;
    const first = stage.start({ preload: killingAt(mark) });
    await first.ready;
    const owen = await owner(stage);
    const ann = stage.telegram.person({ name: 'Ann', id: 43 });
    ann.says('hello');
    await hasKilledItself(first, 'the mark');
    const second = stage.start();
    await ann.dm.nextMessage(/An answer that costs/);
    await ann.dm.nextMessage(/You have used 50 %/);
    await owen.dm.nextMessage(/50 % of a budget/);
    assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
    for (const { dm } of [owen, ann])
      assert.ok(dm.everSent().filter(({ text }) => /% of/.test(text)).length <= 1 + second.resent());
  });

/** The owner, who has written to the bot before: only then Telegram lets it write to them. */
async function owner({ telegram }: CrashStage): Promise<Person> {
  const owen = telegram.person({ name: 'Owen', id: 42 });
  owen.says('/start');
  await owen.dm.nextMessage();
  return owen;
}

async function budgetLines(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true });
  const lines = await Promise.all(
    files
      .filter((file) => file.endsWith('.jsonl'))
      .map(async (file) => readFile(path.join(folder, file), 'utf8')),
  );
  return lines.flatMap((text) => text.split('\n')).filter((line) => line.includes('"event":"budget"'));
}
