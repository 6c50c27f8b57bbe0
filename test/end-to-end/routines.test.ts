import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { openDetails } from '../support/open-details.ts';
import { dueAgain, plantRoutines, readRoutines } from '../support/plant-routine.ts';
import { ben, inBensDm, startRoutineStage, toml, yearly } from '../support/routine-stage.ts';
import type { WholeBotOptions } from '../support/whole-bot.ts';

const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

/** Calls the tool with what was written after its name: `routine_add {"when": …}`. */
const obedient: NonNullable<WholeBotOptions['script']> = (body, index) => {
  const last = lastOf(body);
  const result = /"tool_result".*?"content":"((?:[^"\\]|\\.)*)"/.exec(last)?.[1];
  if (result !== undefined) return `Done: ${JSON.parse(`"${result}"`) as string}`;
  const [, name, input] = /(routine_[a-z]+) (\{[^]*\})/.exec(lastWords(body)) ?? [];
  if (name === undefined || input === undefined) return 'The week was quiet.';
  const call = { type: 'tool_use' as const, id: `toolu_${index}`, name };
  return { content: [{ ...call, input: JSON.parse(input) as Record<string, unknown> }] };
};

function lastWords({ messages }: MessagesRequest): string {
  const content = messages.at(-1)?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

const start = (t: TestContext, options: WholeBotOptions = {}) =>
  startRoutineStage(t, { script: obedient, ...options });

test('N2 a routine is set up in words, its next three times are told, /routines shows it with buttons', async (t) => {
  const { person, set } = await start(t);
  person.says(
    'routine_add {"when": "every monday at 9:00", "task": "Say what happened last week.", "name": "Digest"}',
  );
  const { text } = await person.dm.nextMessage(/Done: Added the routine/);
  assert.match(
    text,
    /"?Digest"? \(time zone Europe\/Berlin\)\. Next: .*09:00 \S+; .*09:00 \S+; .*09:00 \S+\. Tell/,
  );
  person.says('/routines');
  const list = await person.dm.nextMessage(/next: .*09:00/);
  assert.deepEqual(list.buttons, ['Run now', 'Pause', 'Remove']);

  person.presses(list.id, 'Run now');
  assert.match((await person.dm.nextMessage(/The week was quiet/)).text, /^⏰ Digest/);
  const asked = lastOf(set.messages.requests.at(-1)?.body ?? assert.fail());
  assert.match(asked, /This is the routine .{1,3}Digest.{1,3} of Ben, due at /);
  assert.match(asked, /Nobody wrote anything now/);

  person.presses(list.id, 'Pause');
  const paused = await set.telegram.until('it is paused', () =>
    person.dm.sent().find(({ id, buttons }) => id === list.id && buttons.includes('Resume')),
  );
  assert.match(paused.text, /: paused\nLast run: .*, delivered/);
  person.presses(list.id, 'Resume');
  await set.telegram.until('it goes on', () =>
    person.dm.sent().find(({ id, buttons }) => id === list.id && buttons.includes('Pause')),
  );
  person.says('routine_change {"id": "Digest", "when": "every friday at 16:00"}');
  await person.dm.nextMessage(/Changed the routine .*16:00/);
  person.says('routine_list {}');
  await person.dm.nextMessage(/Done: .*Digest.*next: .*16:00/s);
  person.presses(list.id, 'Remove');
  await set.telegram.until('it is removed', () =>
    person.dm.sent().find(({ id, text: shown }) => id === list.id && shown === 'Removed: Digest.'),
  );
  person.says('/routines');
  await person.dm.nextMessage(/There are no routines here/);
  const lines = await set.bot.operate('audit tail', { lines: 100 });
  const verdicts = lines
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
    .filter(({ event }) => event === 'routine')
    .map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ['added', 'fired', 'paused', 'resumed', 'changed', 'removed'], 'L6');
});

test('N2 what can’t be set up says why: no such time zone, a time that is past, too many', async (t) => {
  const { person } = await start(t, {
    toml: `${toml.replace('timezone = "Europe/Berlin"\n', '')}[limits]\nroutines = 1\n`,
  });
  person.says('routine_add {"when": "0 9 * * 1", "task": "x", "timezone": "Mars/Base"}');
  await person.dm.nextMessage(/"Mars\/Base" is no time zone/);
  person.says('routine_add {"when": "2020-01-01T09:00", "task": "x", "timezone": "Asia/Tokyo"}');
  await person.dm.nextMessage(/is in the past/);
  person.says('routine_add {"when": "0 9 * * 1", "task": "x", "timezone": "Asia/Tokyo"}');
  await person.dm.nextMessage(/time zone Asia\/Tokyo/);
  person.says('routine_add {"when": "0 9 * * 1", "task": "y"}');
  await person.dm.nextMessage(/has 1 routines, the most allowed/);
});

test('N2 Q5 two routines that are set up in one answer are two, and what has fired ahead of the clock does not fire again', async (t) => {
  const { person, set } = await start(t, {
    script: (body, index) => {
      if (!lastOf(body).includes('both')) return obedient(body, index);
      const add = (task: string) => ({
        type: 'tool_use' as const,
        name: 'routine_add',
        input: { when: 'every day at 9:00', task },
      });
      return { content: [add('Water the plants.'), add('Feed the cat.')] };
    },
  });
  person.says('Set up both: Water the plants. Feed the cat.');
  await person.dm.nextMessage(/Done: Added the routine/);
  const ahead = Date.now() + 90 * 24 * 3_600_000;
  const both = await readRoutines(set);
  assert.deepEqual(both.map(({ definition }) => definition.task).toSorted(), [
    'Feed the cat.',
    'Water the plants.',
  ]);
  const id = both[0]?.id ?? assert.fail();
  // The clock was ahead when it fired.
  const store = await openStore(`sqlite:${set.home}/data/skillet.db`);
  await store.routines.settle(id, { key: 'k', due: ahead, at: ahead, how: 'answered' });
  await store.close();
  const now = await set.restart();
  person.says(`routine_change {"id": "${id}", "when": "every day at 10:00"}`);
  await person.dm.nextMessage(/Changed the routine/);
  const changed = (await readRoutines(now)).find((one) => one.id === id);
  assert.ok((changed?.dueAt ?? 0) > ahead);
});

test('N3 what runs very often needs an approver: the person’s own yes does not count', async (t) => {
  const { person, owner, set } = await start(t, { toml: `${toml}[policy]\napprovers = ["telegram:1001"]\n` });
  const room = set.telegram.group({ title: 'Team' });
  person.says('@test_bot routine_add {"when": "every 5 minutes", "task": "x"}', { in: room });
  const question = await room.nextMessage(/I need a yes to use/);
  person.presses(question.id, 'Details', room);
  await set.telegram.until('the person is told', () =>
    set.telegram.calls().find(({ args }) => /Only an owner or an approver/.test(JSON.stringify(args))),
  );
  owner.pressesAlone((await openDetails(owner, question, room)).id, 'Approve', room);
  await room.nextMessage(/Added the routine/);
});

test('U17 people rate what a routine answers, but no reminder', async (t) => {
  const { person, set } = await start(t);
  const again = await plantRoutines(set, {
    r1: { ...inBensDm, when: yearly, task: 'Say what happened.' },
    r2: { ...inBensDm, when: yearly, task: 'Stand up.', reminder: true },
  });
  const told = await person.dm.nextMessage(/The week was quiet/);
  const reminder = await person.dm.nextMessage(/Stand up\./);
  await again.bot.idle();
  person.reacts(reminder.id, ['👎']);
  person.reacts(told.id, ['👎']);
  await again.telegram.until('all updates', () => again.telegram.queue.waiting().length === 0);
  const rated = await again.bot.operate('feedback list', {});
  assert.deepEqual(
    rated.map(({ sender, thumb, message }) => [sender, thumb, message]),
    [[ben.id, 'down', String(told.id)]],
  );
});

test('N1 N5 what was missed while nothing ran fires once and says so; a reminder needs no model', async (t) => {
  const { set, person } = await start(t);
  // Some ten hours from now in Berlin: one that was due just now would be fresh, and not missed.
  const daily = { kind: 'cron', expression: `0 ${(new Date().getUTCHours() + 12) % 24} * * *` } as const;
  const now = await plantRoutines(
    set,
    {
      r1: { ...inBensDm, reminder: true, task: 'Call Ada.', when: daily, createdAt: 1 },
      r2: { ...inBensDm, when: { kind: 'once', at: 1 }, task: 'Stand up.', reminder: true, createdAt: 2 },
      r3: { ...inBensDm, when: daily, task: 'Not this.', catchUp: 'none', createdAt: 3 },
    },
    3 * 24 * 3_600_000,
  );
  await person.dm.nextMessage(/⏰ Reminder\nThis was due [34] times since .*one for all\.\n\nCall Ada\./);
  await person.dm.nextMessage(/⏰ Reminder\nThis was due at .*\n\nStand up\./);
  assert.equal(set.messages.requests.length, 0);
  const [r1, r2, r3] = await readRoutines(now);
  assert.deepEqual([r1?.last?.how, r1?.state], ['answered', 'active']);
  assert.deepEqual([r2?.last?.how, r2?.state], ['answered', 'ended']);
  assert.equal(r3?.last?.how, 'skipped');
  await dueAgain(now, 'r3');
  await person.dm.nextMessage(/I was not running at [234] earlier times, so I left them out/);
  assert.equal(person.dm.everSent().filter(({ text }) => text.includes('Call Ada')).length, 1);
});

test('N6 a quiet check says nothing if there is nothing to say, and something once there is', async (t) => {
  const answers = ['All is well.\n\nNOTHING_TO_REPORT', 'Disk /data is 91 % full.'];
  const { set, person } = await start(t, { script: (_, index) => answers[index] ?? 'Hello.' });
  const quiet = { ...inBensDm, name: 'Disk', when: yearly, quiet: true } as const;
  const second = await plantRoutines(set, { r1: quiet });
  await second.telegram.until('it was checked', () => second.messages.requests.length === 1);
  await second.bot.idle();
  await dueAgain(second, 'r1');
  await person.dm.nextMessage(/⏰ Disk\n\nDisk \/data is 91/);
  assert.equal(person.dm.everSent().length, 2);
});

test('N4 a routine that fails three times in a row says so and pauses, and Resume starts the count again', async (t) => {
  const { set, person } = await start(t, { script: () => 'TASK_FAILED: the site does not answer.' });
  let now = await plantRoutines(set, { r1: { ...inBensDm, name: 'Check', when: yearly } });
  for (const n of [1, 2]) {
    const told = await person.dm.nextMessage(/^⏰ Check\n\nthe site does not answer\.$/);
    assert.deepEqual(told.buttons, [], String(n));
    now = await dueAgain(now, 'r1');
  }
  const third = await person.dm.nextMessage(/failed 3 times in a row, so I paused it/);
  assert.deepEqual(third.buttons, ['Run now', 'Resume', 'Remove']);
  person.presses(third.id, 'Run now');
  await person.dm.nextMessage(/^⏰ Check\n\nthe site does not answer\./);
  person.presses(third.id, 'Resume');
  await now.telegram.until('it goes on', () =>
    person.dm.sent().find(({ id, buttons }) => id === third.id && buttons.includes('Pause')),
  );
  assert.deepEqual(
    (await readRoutines(now)).map(({ state, failures }) => [state, failures]),
    [['active', 0]],
  );
});

test('N3 if the bot can’t write to the chat any more, the routine stops at its next time', async (t) => {
  const { set, person } = await start(t);
  const gone = { channel: 'telegram', chat: '-100555' } as const;
  const planted = {
    creator: ben,
    chatType: 'group',
    conversation: gone,
    when: yearly,
    name: 'Lost',
  } as const;
  const second = await plantRoutines(set, { r1: planted });
  await second.log.line(({ message }) => message === 'a part could not be delivered and was given up');
  await dueAgain(second, 'r1');
  const { text } = await person.dm.nextMessage(/I paused the routine Lost/);
  assert.match(text, /I can’t write to that chat any more/);
});

test('N2 [[routines]] of the config run as the person they name, follow a reload, and can’t be changed in a chat', async (t) => {
  const routine = (more: string): string =>
    `${toml}[[routines]]\nname = "greeting"\nwhen = "0 9 1 1 *"\nas = "telegram:1002"\nconversation = "telegram:1002"\n${more}\n`;
  const { set, person } = await start(t, { toml: routine('task = "Good morning."\nreminder = true') });
  person.says('/routines');
  const list = await person.dm.nextMessage(/greeting config-greeting: next: /);
  assert.deepEqual(list.buttons, ['Run now']);
  person.presses(list.id, 'Run now');
  await person.dm.nextMessage(/⏰ Reminder\n\nGood morning\./);
  person.says('routine_remove {"id": "greeting"}');
  await person.dm.nextMessage(/set up in config\.toml: only the operator/);
  await set.reconfigure(routine('task = "Good day."\nreminder = true'));
  await set.log.line(({ message }) => message === 'the config was changed');
  person.says('/routines');
  await person.dm.nextMessage(/Good day\./);
  await set.reconfigure(toml);
  await set.log.line(
    () => set.log.lines.filter((line) => line.message === 'the config was changed').length > 1,
  );
  for (let shown = 'config-greeting'; shown.includes('config-greeting');) {
    person.says('/routines');
    shown = (await person.dm.nextMessage(/config-greeting|There are no routines here/)).text;
  }
});

test('N2 G3 a reload with [[routines]] that could never run is refused whole, and the owners hear the fix', async (t) => {
  const routine = (more: string): string =>
    `${toml}[[routines]]\nname = "greeting"\nwhen = "0 9 1 1 *"\nas = "telegram:1002"\nconversation = "telegram:1002"\n${more}\n`;
  const fine = routine('task = "Good morning."\nreminder = true');
  const { set, person, owner } = await start(t, { toml: fine });
  const wrong =
    '\n[[routines]]\nname = "wrong"\nwhen = "soon"\ntask = "x"\nas = "telegram:1002"\nconversation = "telegram:1002"';
  await set.reconfigure(routine(`task = "Good day."\nreminder = true${wrong}`));
  const { text } = await owner.dm.nextMessage(/config\.toml.* is not valid, so nothing changed/);
  assert.match(text, /line \d+: routines\[1\]\.when: "soon" is no time\. Write a time/);
  // Nobody writes to others in the operator's name.
  await set.reconfigure(fine.replace('as = "telegram:1002"', 'as = "telegram:1001"'));
  const other = await owner.dm.nextMessage(/is not valid, so nothing changed/);
  assert.match(other.text, /routines\[0\]\.as: a direct message takes only routines of its own person/);
  person.says('/routines');
  await person.dm.nextMessage(/greeting config-greeting: next: [^]*Good morning\./);
  assert.ok(!set.log.lines.some((line) => line.message === 'the config was changed'));
});

const unzoned = { toml: toml.replace('timezone = "Europe/Berlin"\n', '') };

test('U20 what needs no time zone is set up at once; for a time by the clock the person is asked once, with buttons', async (t) => {
  const { person, set } = await start(t, unzoned);
  for (const when of [
    'in 20 minutes',
    'every 2 hours',
    'every 2 weeks',
    '2050-01-01T00:00:00Z',
    '2030-12-24T18:00+01:00',
  ])
    person.says(`routine_add {"when": "${when}", "task": "Stand up."}`);
  for (let n = 0; n < 3; n++) await person.dm.nextMessage(/Done: Added the routine/);
  const asked = () =>
    person.dm.everSent().filter(({ text }) => /don’t know your time zone/.test(text)).length;
  assert.equal(asked(), 0);

  person.says('routine_add {"when": "2030-12-24T18:00", "task": "Light the tree.", "name": "Tree"}');
  assert.match(
    (await person.dm.nextMessage(/Added the routine .*"Tree"/)).text,
    /⏰ Set up: Tree, 24 Dec 2030/,
  );
  const question = await person.dm.nextMessage(
    /^I don’t know your time zone, so I took \S+\. Which is yours\?$/,
  );
  assert.equal(question.buttons.length, 6);
  const tokyo =
    question.buttons.find((label) => label.startsWith('Tokyo, ')) ?? assert.fail(question.buttons.join());
  person.presses(question.id, tokyo);
  const chosen = await set.telegram.until('the question shows what was chosen', () =>
    person.dm
      .sent()
      .find(({ id, text }) => id === question.id && text.startsWith('Your time zone is now Asia/Tokyo')),
  );
  assert.match(chosen.text, /⏰ Tree: 24 Dec 2030, 18:00 GMT\+9/);
  assert.deepEqual(chosen.buttons, []);

  person.says('routine_add {"when": "2030-12-25T10:00", "task": "Rest.", "name": "Rest"}');
  await person.dm.nextMessage(/time zone Asia\/Tokyo[^]*⏰ Set up: Rest, 25 Dec 2030, 10:00 GMT\+9$/);
  const [tree] = (await readRoutines(set)).filter(({ definition }) => definition.name === 'Tree');
  assert.equal(new Date(tree?.dueAt ?? 0).toISOString(), '2030-12-24T09:00:00.000Z');
  assert.equal(asked(), 0, 'the question was asked once and is answered');
});

test('U20 everybody sets their own time zone by name or city, it outlives a restart, and the question comes once', async (t) => {
  const { person, owner, set } = await start(t, unzoned);
  person.says('routine_add {"when": "tomorrow at 9", "task": "x"}');
  await person.dm.nextMessage(/don’t know your time zone/);
  person.says('routine_add {"when": "tomorrow at 10", "task": "y"}');
  await person.dm.nextMessage(/Set up: y/);
  person.says('/settings timezone Nowhere');
  assert.match(
    (await person.dm.nextMessage(/know no time zone Nowhere/)).text,
    /or write \/settings timezone Europe\/Zurich/,
  );
  person.says('/settings timezone new york');
  assert.match(
    (await person.dm.nextMessage(/Your time zone is now America\/New_York/)).text,
    /⏰ x: .* 09:00 [^]*⏰ y: .* 10:00 /,
  );
  const again = await set.restart();
  person.says('/settings timezone');
  await person.dm.nextMessage(/Your time zone is America\/New_York\. Choose another/);
  owner.says('/settings timezone');
  await owner.dm.nextMessage(/don’t know your time zone yet/);
  person.says('What day is it?');
  await person.dm.nextMessage(/The week was quiet/);
  assert.match(
    lastOf(again.messages.requests.at(-1)?.body ?? assert.fail()),
    /Today is [^"]* America\/New_York/,
  );
  assert.equal(person.dm.everSent().filter(({ text }) => /so I took/.test(text)).length, 1);
});
