import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { changedKeys } from '../../src/config/complete-config.ts';
import { loadConfig, watchConfig } from '../../src/config/load-config.ts';
import { isGrave, lostKeys } from '../../src/config/lost-keys.ts';
import type { ParsedConfig } from '../../src/config/parse-config.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { withinMachineTime } from '../support/machine-time.ts';

/** An edit that is never told would leave a test waiting: then it fails. */
const within = { timeout: 100_000 };
const named = (name: string): string => `[bot]\nname = "${name}"\n`;

async function watched(t: TestContext, options: { clock?: Clock; link?: boolean; edit?: string } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-watch-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'config.toml');
  if (options.link) {
    await writeFile(path.join(folder, 'one.toml'), named('first'));
    await symlink('one.toml', file);
  } else {
    await writeFile(file, named('first'));
  }
  const loaded = await loadConfig({ flag: file, env: {} });
  assert.ok(loaded.ok);
  if (options.edit !== undefined) await writeFile(file, options.edit);

  const outcomes: ParsedConfig[] = [];
  const waiting: ((outcome: ParsedConfig) => void)[] = [];
  const watch = watchConfig(loaded.config, {
    env: {},
    clock: options.clock ?? systemClock,
    onChange(outcome) {
      outcomes.push(outcome);
      waiting.shift()?.(outcome);
    },
  });
  // The poll itself keeps no process alive: the test does while it waits.
  const alive = setInterval(() => undefined, 1000);
  t.after(() => {
    clearInterval(alive);
    watch.stop();
  });
  const next = (): Promise<ParsedConfig> => {
    const { promise, resolve } = Promise.withResolvers<ParsedConfig>();
    waiting.push(resolve);
    return promise;
  };
  return { folder, file, watch, outcomes, next, loaded: loaded.config };
}

function nameOf(outcome: ParsedConfig): string {
  return outcome.ok ? outcome.config.bot.name : (outcome.problems[0]?.message ?? '');
}

test('G3 a saved edit is in force within a second', within, async (t) => {
  const { file, watch, next } = await watched(t);
  assert.equal(watch.current().bot.name, 'first');
  // The first may be seen by the look at the start; the others are not.
  for (const name of ['second', 'third', 'fourth']) {
    const told = next();
    await writeFile(file, named(name));
    assert.equal(nameOf(await withinMachineTime('an edit', 1_000, told)), name);
    assert.equal(watch.current().bot.name, name);
  }
});

test('G3 an invalid edit is told and changes nothing; the next valid one counts', within, async (t) => {
  const { file, watch, outcomes, next } = await watched(t);
  let told = next();
  await writeFile(file, '[bot]\nname = 3\n');
  assert.match(nameOf(await told), /^bot\.name is 3: write text/);
  assert.equal(watch.current().bot.name, 'first');
  told = next();
  await writeFile(file, named('first'));
  assert.equal(nameOf(await told), 'first', 'that the file is good again is told');
  told = next();
  await writeFile(file, named('third'));
  assert.equal(nameOf(await told), 'third');
  assert.equal(outcomes.length, 3);
});

test('G3 an editor that puts a new file in place is followed, again and again', within, async (t) => {
  const { folder, file, watch, next } = await watched(t);
  for (const name of ['second', 'third']) {
    const told = next();
    await writeFile(path.join(folder, '.config.swp'), named(name));
    await rename(path.join(folder, '.config.swp'), file);
    assert.equal(nameOf(await told), name);
  }
  assert.equal(watch.current().bot.name, 'third');
});

test('G3 a symlink that is switched to another file is followed', within, async (t) => {
  const { folder, file, next } = await watched(t, { link: true });
  const told = next();
  await writeFile(path.join(folder, 'two.toml'), named('second'));
  await symlink('two.toml', path.join(folder, 'next'));
  await rename(path.join(folder, 'next'), file);
  assert.equal(nameOf(await told), 'second');
});

test(
  'G3 a deleted file is told and the config stays; it is followed when it comes back',
  within,
  async (t) => {
    const { file, watch, next } = await watched(t);
    let told = next();
    await rm(file);
    assert.match(nameOf(await told), /no such config file/);
    assert.equal(watch.current().bot.name, 'first');
    told = next();
    await writeFile(file, named('second'));
    assert.equal(nameOf(await told), 'second');
  },
);

test('G3 a file is not taken while it is being written', within, async (t) => {
  const steps = ['[bot]\n', `[bot]\nname = "half"\n`, named('whole')];
  let target = '';
  const clock: Clock = {
    ...systemClock,
    async sleep() {
      const step = target === '' ? undefined : steps.shift();
      if (step !== undefined) await writeFile(target, step);
    },
  };
  const { file, outcomes, next } = await watched(t, { clock });
  const told = next();
  target = file;
  await writeFile(file, '');
  assert.equal(nameOf(await told), 'whole');
  assert.equal(outcomes.length, 1);
});

test(
  'G3 an emptied file is never taken for a config: one saved while it is read is read again',
  within,
  async (t) => {
    const edits = 12;
    const writes: Promise<void>[] = [];
    const text = (edit: number): string => `${'# padding\n'.repeat(50_000)}${named(`edit ${edit}`)}`;
    const folder = { file: '' };
    const { file, outcomes, next } = await watched(t, {
      clock: {
        now: () => Date.now(),
        // An edit begins whenever the file was found quiet: just before it is read.
        async sleep(ms, signal) {
          await systemClock.sleep(ms, signal);
          if (folder.file !== '' && writes.length < edits)
            writes.push(writeFile(folder.file, text(writes.length)));
        },
      },
    });
    folder.file = file;
    await writeFile(file, text(-1));
    const isLast = (outcome: ParsedConfig): boolean =>
      outcome.ok && outcome.config.bot.name === `edit ${edits - 1}`;
    while (!outcomes.some(isLast)) await next();
    await Promise.all(writes);
    // The first reading may be of what was there before.
    const wrong = outcomes.filter(
      (outcome) => !outcome.ok || !/^(edit -?\d+|first)$/.test(outcome.config.bot.name),
    );
    assert.equal(wrong.length, 0);
  },
);

test('G3 what was saved between loading and watching is seen', within, async (t) => {
  const { next, watch } = await watched(t, { edit: named('early') });
  const outcome = await next();
  assert.equal(nameOf(outcome), 'early');
  assert.equal(watch.current().bot.name, 'early');
});

test(
  'G3 an edit that changes nothing in effect is not told, and after stop nothing is',
  within,
  async (t) => {
    const looks: (() => void)[] = [];
    const look = (): Promise<void> => new Promise((resolve) => looks.push(resolve));
    const clock: Clock = {
      ...systemClock,
      async sleep(ms) {
        looks.shift()?.();
        return systemClock.sleep(ms);
      },
    };
    const { file, loaded, outcomes, next } = await watched(t, { clock });
    const stopped: ParsedConfig[] = [];
    watchConfig(loaded, { env: {}, onChange: (outcome) => stopped.push(outcome) }).stop();
    // One reading waits four times at most for the file to settle: six waits are more than one reading.
    for (let remark = 0; remark < 6; remark++) {
      const seen = look();
      await writeFile(file, `# remark ${remark}\n${named('first')}`);
      await seen;
    }
    assert.deepEqual(outcomes, []);
    const told = next();
    await writeFile(file, `# a remark\n${named('second')}`);
    assert.equal(nameOf(await told), 'second');
    assert.equal(outcomes.length, 1);
    assert.deepEqual(stopped, []);
  },
);

test('G3 a config without a file is in force for good', async () => {
  const loaded = await loadConfig({ env: {}, cwd: tmpdir(), home: path.join(tmpdir(), 'nobody') });
  assert.ok(loaded.ok && loaded.config.path === undefined);
  const watch = watchConfig(loaded.config, { env: {}, onChange: () => assert.fail('nothing to watch') });
  assert.equal(watch.current(), loaded.config);
  watch.stop();
});

test('G3 what an edit changed is named, so that what needs a restart can be told', within, async (t) => {
  const { file, loaded, next } = await watched(t);
  const told = next();
  await writeFile(
    file,
    '[bot]\nname = "first"\nowner = ["telegram:42"]\n[telegram]\ntoken = "1:a"\n[skills.a]\nenabled = false\n',
  );
  const outcome = await told;
  assert.ok(outcome.ok);
  assert.deepEqual(changedKeys(loaded, outcome.config), ['bot.owner', 'skills.a', 'telegram.token']);
  assert.deepEqual(changedKeys(loaded, loaded), []);
});

const whole = `[bot]
name = "first"
[access]
dm = "open"
[[policy.rules]]
tool = "skills_run_script"
action = "confirm"
[models.default]
model = "claude-sonnet-5-5"
`;

test('S15 a file that lost keys counts only when it stays so, and says what it lost', within, async (t) => {
  const { file, watch, outcomes, next } = await watched(t);
  const told = next();
  await writeFile(file, whole);
  await told;
  // Each line's end is valid TOML: a slow writer stands still there for as long as editors and copies do.
  for (const at of ['[access]', '[[policy', '[models']) {
    const renamed = next();
    await writeFile(file, whole.slice(0, whole.indexOf(at)));
    await setTimeout(1_000);
    await writeFile(file, whole.replace('first', at.slice(1)));
    assert.equal(nameOf(await renamed), at.slice(1));
  }
  assert.ok(outcomes.every((outcome) => !outcome.ok || outcome.config.access.dm === 'open'));
  const lost = next();
  await writeFile(file, whole.slice(0, whole.indexOf('[access]')));
  await lost;
  assert.equal(watch.current().access.dm, 'pairing');
});

test('S15 what a file lost: any key, a table of a list, or the end of its last value', () => {
  const until = (at: string): string => whole.slice(0, whole.indexOf(at));
  assert.deepEqual(lostKeys(whole, whole.replace('first', 'second')), []);
  assert.deepEqual(lostKeys(whole, until('[models')), ['models', 'models.default', 'models.default.model']);
  assert.ok(lostKeys(whole, until('[[policy')).includes('policy.rules.0'));
  assert.deepEqual(lostKeys('[limits]\nusd_per_day = 10\n', '[limits]\nusd_per_day = 1'), ['its end']);
  assert.deepEqual(lostKeys(whole, `${whole}[limits]\nusd_per_day = 10\n`), []);
  assert.deepEqual(['access', 'models.default', 'telegram.token', 'bot.name'].map(isGrave), [
    true,
    true,
    true,
    false,
  ]);
});
