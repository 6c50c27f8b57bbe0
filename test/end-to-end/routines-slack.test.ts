import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { SlackUser } from '../servers/slack/workspace.ts';
import { dueAgain, plantRoutines, readRoutines } from '../support/plant-routine.ts';
import { startWholeBot } from '../support/whole-bot.ts';

/** Ids of the first users of a workspace. */
const [annasId, bensId] = ['U00000004', 'U00000005'];
const toml = [
  `[bot]\nowner = ["slack:${annasId}"]\nshutdown_seconds = 1`,
  `[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false`,
].join('\n');
const inAnHour = -3_600_000;
const yearly = { kind: 'cron', expression: '0 9 1 1 *' } as const;
const ben = { id: `slack:${bensId}`, name: 'ben', kind: 'person' } as const;

/** Anna owns the bot; Ben has the routine Digest in their direct message, and Watch in the channel that both are in. */
async function withRoutines(t: TestContext) {
  const first = await startWholeBot(t, { toml, script: () => 'The week was quiet.', channels: ['slack'] });
  const { slack } = first;
  const [anna, bens] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  assert.deepEqual([anna.id, bens.id], [annasId, bensId]);
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bens.id] });
  const dm = slack.workspace.dmWith(bens.id);
  const mine = { creator: ben, external: false, when: yearly, timezone: 'Europe/Berlin' };
  const set = await plantRoutines(
    first,
    {
      digest: {
        ...mine,
        name: 'Digest',
        chatType: 'private',
        conversation: { channel: 'slack', chat: dm.id },
        createdAt: 1,
      },
      watch: {
        ...mine,
        name: 'Watch',
        chatType: 'channel',
        conversation: { channel: 'slack', chat: room.id },
        createdAt: 2,
      },
    },
    inAnHour,
  );
  /** What the bot showed this person alone. */
  const alone = (user: SlackUser, words: RegExp) =>
    slack.shown.until(
      ({ kind, user: to, text }) => kind === 'ephemeral' && to === user.id && words.test(String(text)),
    );
  return { set, slack, anna, ben: bens, room, dm, alone };
}

test('N2 H12 /routines in a channel is for its sender alone, and so is what a press says', async (t) => {
  const { set, slack, ben, room, alone } = await withRoutines(t);
  await slack.people.slash(ben, room, 'routines');
  const list = await alone(ben, /Watch/);
  assert.doesNotMatch(String(list['text']), /Digest/);
  await slack.people.pressAlone(ben, list, 'Pause');
  const paused = await alone(ben, /: paused/);
  await slack.people.pressAlone(ben, paused, 'Resume');
  const resumed = await alone(ben, /next: 1 Jan/);
  await set.bot.idle();
  assert.deepEqual(slack.transcript(room), []);
  await slack.people.pressAlone(ben, resumed, 'Run now');
  await alone(ben, /It runs now\./);
  const { channel, threadTs } = await slack.posted(({ text }) => text.includes('The week was quiet.'));
  assert.deepEqual([channel, threadTs], [room.id, undefined]);
  await slack.people.pressAlone(ben, resumed, 'Remove');
  await alone(ben, /^Removed: Watch\./);
  await set.bot.idle();
  assert.equal(slack.transcript(room).length, 1);
  assert.ok(slack.shown.all().every(({ kind, user }) => kind !== 'ephemeral' || user === ben.id));
  assert.deepEqual(
    (await readRoutines(set)).map(({ id }) => id),
    ['digest'],
  );
});

test('N2 in a direct message the buttons change the list itself', async (t) => {
  const { set, slack, ben, dm } = await withRoutines(t);
  slack.people.dm(ben, '!routines digest');
  const list = await slack.posted(({ text }) => text.includes('Digest'));
  /** The same message, as it is shown after this press. */
  const press = async (label: string, words: RegExp): Promise<void> => {
    await slack.people.press(ben, list, label);
    await slack.changes.until(
      ({ kind, message }) => kind === 'updated' && message.ts === list.ts && words.test(message.text),
    );
  };
  await press('Pause', /: paused/);
  await press('Resume', /next: 1 Jan/);
  await press('Run now', /It runs now\./);
  await slack.posted(({ channel, text }) => channel === dm.id && text.includes('The week was quiet.'));
  await press('Remove', /^Removed: Digest\./);
  assert.deepEqual(
    (await readRoutines(set)).map(({ id }) => id),
    ['watch'],
  );
});

test('H4 N2 the Home tab has the routines of its visitor, wherever they run, and their buttons', async (t) => {
  const { set, slack, ben, anna, dm } = await withRoutines(t);
  const page = async (user: SlackUser, words: RegExp): Promise<string> => {
    const { view } = await slack.homes.until(
      (home) => home.user === user.id && words.test(JSON.stringify(home.view)),
    );
    return JSON.stringify(view);
  };
  await slack.people.openHome(anna);
  assert.doesNotMatch(await page(anna, /Your tokens/), /⏰/);
  await slack.people.openHome(ben);
  assert.match(await page(ben, /⏰/), /Digest.*next: .*Watch.*next: /);
  await slack.people.pressHome(ben, 'Pause');
  await page(ben, /Digest[^⏰]*: paused/);
  await slack.people.pressHome(ben, 'Resume');
  await page(ben, /Digest[^⏰]*next: 1 Jan/);
  await slack.people.pressHome(ben, 'Run now');
  await page(ben, /It runs now\./);
  await slack.posted(({ text }) => text.includes('The week was quiet.'));
  await slack.people.pressHome(ben, 'Remove');
  assert.doesNotMatch(await page(ben, /Removed: Digest\./), /⏰[^⏰]*`digest`/);
  await set.bot.idle();
  assert.deepEqual(
    slack.transcript(dm),
    ['skillet: ⏰ *Digest*\n\nThe week was quiet.'],
    'only what it answered',
  );
  assert.deepEqual(
    (await readRoutines(set)).map(({ id }) => id),
    ['watch'],
  );
});

test('N3 a routine of the config reaches no direct message but that of the person it runs as', async (t) => {
  const of = (name: string, chat: string): string =>
    `[[routines]]\nname = "${name}"\nwhen = "0 9 1 1 *"\nas = "slack:${bensId}"\nconversation = "slack:${chat}"\ntask = "Hello from ${name}."\nreminder = true\n`;
  const first = await startWholeBot(t, { toml, channels: ['slack'] });
  const { slack } = first;
  const [anna, bens] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const [herDm, hisDm] = [slack.workspace.dmWith(anna.id), slack.workspace.dmWith(bens.id)];
  await first.reconfigure(`${toml}\n${of('hers', herDm.id)}${of('his', hisDm.id)}`);
  const second = await first.restart();
  await second.bot.idle();
  const third = await dueAgain(await dueAgain(second, 'config-hers'), 'config-his');
  await slack.posted(({ channel, text }) => channel === hisDm.id && text.includes('Hello from his.'));
  await third.bot.idle();
  const [hers, his] = (await readRoutines(third)).toSorted((a, b) => a.id.localeCompare(b.id));
  assert.deepEqual([hers?.last?.how, his?.last?.how], ['stopped', 'answered']);
  assert.ok(!slack.transcript(herDm).some((line) => line.includes('Hello from hers.')));
});
