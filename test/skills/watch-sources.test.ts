import assert from 'node:assert/strict';
import { sayIn } from '../../src/core/texts/say.ts';
import { rmSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { watchSources } from '../../src/skills/watch-sources.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { installSkills } from '../../src/skills/install/install-skills.ts';
import { lockedSkillStore } from '../../src/skills/install/locked-skill-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeRoot, put, skillText } from './make-root.ts';
import { partOf } from '../support/app-of.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { offerSkills } from '../support/offer-skills.ts';
import { quietLog } from '../support/quiet-log.ts';

const minute = 60_000;

async function watched(t: TestContext, toml = 'auto_sync = true\nupdate_interval_minutes = 10') {
  const source = makeRoot(t, { 'greet/SKILL.md': skillText('name: greet\ndescription: Greets.') });
  const dataDir = makeRoot(t);
  const parsed = parseConfig(
    `[bot]\ndata_dir = "${dataDir}"\n[skills]\n${toml}\n[[skills.sources]]\npath = "${source}"`,
    {
      env: {},
    },
  );
  assert.ok(parsed.ok);
  const log = quietLog();
  const store = await openStore('sqlite::memory:', { log, clock: systemClock });
  t.after(() => store.close());
  const manual = createManualClock();
  const rest = { now: false, begun: () => undefined as void };
  const clock: Clock = {
    now: manual.now,
    async sleep(ms, signal) {
      rest.now = true;
      rest.begun();
      await manual.sleep(ms, signal).finally(() => (rest.now = false));
    },
  };
  /** Resolves when nothing is looked at. */
  const resting = (): Promise<void> =>
    rest.now ? Promise.resolve() : new Promise((resolve) => (rest.begun = resolve));
  const told: { key: string; markdown: string; german: string }[] = [];
  const begin = () => {
    const stopping = new AbortController();
    const ended = watchSources({
      config: () => parsed.config,
      store,
      replies: partOf({
        tellOwners: async (key, words) =>
          void told.push({ key, markdown: sayIn(undefined)(words), german: sayIn('de')(words) }),
      }),
      env: {},
      clock,
      log,
      signal: stopping.signal,
    });
    return async (): Promise<void> => {
      stopping.abort();
      await ended;
    };
  };
  const agree = async (): Promise<void> => {
    const { offers } = await offerSkills(t, source);
    installSkills(dataDir, { source, offers, at: clock.now() });
  };
  /** Lets an interval pass and whatever it begins end. */
  const pass = async (): Promise<void> => {
    for (let minutes = 0; minutes < 12; minutes += 1) {
      await resting();
      await manual.advance(minute);
    }
    await resting();
  };
  return { source, dataDir, clock, told, begin, agree, pass, log };
}

test('D6 auto_sync tells the owners of each change once, over restarts too, and installs nothing', async (t) => {
  const { source, dataDir, told, begin, agree, pass } = await watched(t);
  await agree();
  let stop = begin();
  await pass();
  assert.equal(told.length, 0);

  put(source, 'greet/SKILL.md', skillText('name: greet\ndescription: Greets.\nnetwork: [evil.example.com]'));
  await pass();
  assert.equal(told.length, 1);
  assert.match(told[0]?.markdown ?? '', /`greet` changed and asks for more: `network: evil\.example\.com`/);
  await pass();
  await stop();
  stop = begin();
  await pass();
  assert.equal(told.length, 1);

  put(
    source,
    'greet/SKILL.md',
    skillText('name: greet\ndescription: Greets.\nnetwork: [evil.example.com]', 'More.'),
  );
  await pass();
  assert.equal(told.length, 2);
  assert.notEqual(told[0]?.key, told[1]?.key);
  rmSync(`${source}/greet`, { recursive: true });
  await pass();
  assert.match(told[2]?.markdown ?? '', /`greet` is no longer offered there/);
  const [skill] = (await lockedSkillStore(dataDir).list()).skills;
  assert.ok(skill !== undefined && !skill.pin?.files.some(({ path }) => path.includes('evil')));
  await stop();
});

test('D6 H14 a source of config that nobody agreed to is told once, in the owner’s language', async (t) => {
  const { told, begin, pass } = await watched(t);
  const stop = begin();
  await pass();
  await pass();
  await stop();
  assert.equal(told.length, 1);
  assert.match(told[0]?.markdown ?? '', /Nobody has approved it yet.*`greet`/s);
  assert.match(told[0]?.german ?? '', /hat noch niemand zugestimmt.*`greet`/s);
});

test('D6 without auto_sync no source is looked at, and one that is gone ends nothing', async (t) => {
  const off = await watched(t, 'auto_sync = false');
  const stopOff = off.begin();
  await off.pass();
  await stopOff();
  assert.deepEqual([off.told, off.log.lines], [[], []]);

  const on = await watched(t);
  await on.agree();
  rmSync(on.source, { recursive: true });
  const stop = on.begin();
  await on.pass();
  await on.pass();
  await stop();
  assert.deepEqual(on.told, []);
  const complaints = on.log.lines.filter(({ message }) => message === 'could not fetch a source of skills');
  // Twenty-four minutes: at once, after ten and after twenty.
  assert.equal(complaints.length, 3);
});
