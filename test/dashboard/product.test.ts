import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { check } from '../../src/operator/doctor/finding.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { plantRoutines } from '../support/plant-routine.ts';
import { until } from '../support/until.ts';
import { ask, enter, openDashboard, type Answer } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const acts = { as: 'telegram:7' };

/** The words of a page, one space between them. */
function words({ body }: Answer): string {
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replace(/\s+/g, ' ');
}

async function startAnswering(t: TestContext) {
  const set = await startWholeBot(t, { toml: open, script: () => 'An answer.' });
  const ann = set.telegram.person({ name: 'Ann' });
  const team = set.telegram.group({ title: 'Team' });
  ann.says('@test_bot a question', { in: team });
  await team.nextMessage('An answer.');
  return { ...set, ann, team };
}

test('S8 the first page tells if all is well, what waits, what it cost and what was refused', async (t) => {
  const toml = '[access]\ndm = "pairing"\n[limits.global]\nusd_per_day = 10\n';
  const set = await startWholeBot(t, { toml, script: () => 'An answer.' });
  const ann = set.telegram.person({ name: 'Ann' });
  const eve = set.telegram.person({ name: 'Eve' });
  await set.bot.users.pair({ sender: `telegram:${ann.id}`, name: 'Ann', since: 1 });
  ann.says('a question');
  await ann.dm.nextMessage('An answer.');
  eve.says('hello');
  await eve.dm.nextMessage();
  const visitor = await enter((await openDashboard(t, set, { acts })).newLink());
  const shown = await visitor.get('/');
  assert.match(shown.body, /<title>\(1\) Overview · Skillet<\/title>/);
  assert.match(
    words(shown),
    /All is well\. Started (?:just now|\d+ min ago) .*telegram started .*store works/,
  );
  assert.match(words(shown), /Waiting for you 1 person to approve/);
  assert.match(words(shown), /Today \$0\.\d+ Less than 1 % of \$10\.00 a day, by \[limits\.global\]/);
  assert.match(
    words(shown),
    /Refused .* Message refused does not know this person 1 (?:just now|\d+ min ago)/,
  );
  assert.match(shown.body, /role="img"\s+aria-label="Model requests by day: [^"]* 1 requests, \$0\.\d+"/);
  assert.match(words(shown), /People and groups 1 waiting/);

  const people = await visitor.get('/people');
  const [, code = ''] = /name="code"\s+value="([A-Z0-9]+)"/.exec(people.body) ?? [];
  assert.match(words(people), /Eve direct message with Eve [A-Z0-9]+ in \d+ min Approve Deny/);
  const approved = await visitor.post('/people/approve', { code });
  assert.match(words(approved), /Eve \(telegram:\d+\) is approved, and was told\./);
  await eve.dm.nextMessage();
  assert.match(words(await visitor.get('/')), /Nothing waits for you\./);
  const revoked = await visitor.post('/people/revoke', { id: `telegram:${eve.id}`, name: 'Eve' });
  assert.match(words(revoked), /telegram:\d+ is revoked\./);
});

test('S8 Q12 people and chats have names on pages, until they are forgotten', async (t) => {
  const { ann, ...set } = await startAnswering(t);
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const row = /title="telegram:-\d+"\s*>Team<\/a\s*>/;
  // The platform is asked for the name of a chat after the first page.
  await until(async () => row.test((await get('/conversations')).body));
  assert.match((await get('/conversations')).body, new RegExp(`title="telegram:${ann.id}"\\s*>Ann</a`));
  assert.match(words(await get(`/person?id=telegram%3A${ann.id}`)), /Ann Role by \[access\]/);
  await set.bot.operate('forget', `telegram:${ann.id}`);
  assert.doesNotMatch((await get('/audit')).body, />Ann</);
  assert.deepEqual((await set.bot.operate('names')).people, {});
});

test('S8 times are relative, with the exact one in the operator’s zone', async (t) => {
  const set = await startWholeBot(t, { toml: '[bot]\ntimezone = "Europe/Zurich"\n' });
  const clock = createManualClock(Date.UTC(2026, 10, 28, 23, 30));
  const { get } = await enter((await openDashboard(t, set, { clock })).newLink());
  await clock.advance(90_000);
  const { body } = await get('/sessions');
  assert.match(
    body,
    /<time datetime="2026-11-28T23:30:00\.000Z" title="Sun, 29 Nov 2026, 00:30:00 Europe\/Zurich"\s*>1 min ago<\/time\s*>/,
  );
  assert.match(body, />in 11 h<\/time\s*>/);
});

test('S8 what is removed is asked about first, and what can be taken back has an undo', async (t) => {
  const watch = {
    creator: { id: 'telegram:42', name: 'Ann', kind: 'person' },
    conversation: { channel: 'telegram', chat: '-100' },
    chatType: 'group',
    name: 'Watch',
  } as const;
  const set = await plantRoutines(await startWholeBot(t), { watch }, -3_600_000);
  const visitor = await enter((await openDashboard(t, set, { acts })).newLink());
  const asked = await visitor.post('/routines/remove', { id: 'watch', name: 'Watch', sure: '' });
  assert.equal(asked.status, 200);
  assert.match(
    words(asked),
    /Remove the routine Watch\? .* can’t be undone\. .* pause it instead\. Remove Keep it/,
  );
  assert.match(words(await visitor.get('/routines')), /Watch watch/);
  const paused = await visitor.post('/routines/pause', { id: 'watch', back: '/routines?words=watch' });
  assert.match(words(paused), /watch is paused\. Undo/);
  assert.match(paused.body, /action="\/routines\/resume"/);
  const resumed = await visitor.post('/routines/resume', { id: 'watch', back: 'https://evil.example/' });
  assert.match(words(resumed), /watch is active\. Undo/);
  assert.match(
    words(await visitor.post('/routines/remove', { id: 'watch' })),
    /watch is removed\. Reminders/,
  );
});

test('S8 sessions are listed and ended, also by who may change nothing else', async (t) => {
  const set = await startWholeBot(t);
  const dashboard = await openDashboard(t, set);
  const one = await enter(dashboard.newLink());
  const other = await enter(dashboard.newLink());
  const shown = await one.get('/sessions');
  assert.equal(shown.body.match(/<tr role="row">/g)?.length, 3);
  assert.match(
    words(shown),
    /unknown browser this browser (?:just now|\d+ min ago) (?:just now|\d+ min ago) in 11 h Sign out/,
  );
  const ids = [...shown.body.matchAll(/name="id"\s+value="([\w-]+)"/g)].map(([, id = '']) => id);
  const [, second = ''] = ids;
  assert.equal((await one.post('/routines/pause', { id: 'x' })).status, 403);
  assert.equal(
    (
      await ask(`${one.origin}/sessions/end`, {
        headers: { cookie: one.cookie, origin: one.origin },
        form: { id: second },
      })
    ).status,
    403,
    'a form without the token',
  );
  assert.match(words(await one.post('/sessions/end', { id: second })), /The session is ended\./);
  assert.equal((await other.get('/')).status, 401);
  const [own = ''] = ids;
  assert.equal((await one.post('/sessions/end', { id: own })).status, 401);
});

test('S8 U12 costs of a month and the audit are files for a spreadsheet', async (t) => {
  const { ann, ...set } = await startAnswering(t);
  const { get } = await enter((await openDashboard(t, set)).newLink());
  const [row] = await set.bot.operate('stats', '2000-01-01');
  const month = row?.day.slice(0, 7) ?? '';
  const costs = await get(`/costs.csv?period=${month}`);
  assert.equal(costs.headers['content-disposition'], `attachment; filename="costs-${month}.csv"`);
  assert.match(costs.body, new RegExp(`^day,person,conversation,.*\\n${row?.day},telegram:${ann.id},`));
  assert.match(words(await get(`/costs?period=${month}`)), /for 1 model requests/);
  const before = `${Number(month.slice(0, 4)) - 1}${month.slice(4)}`;
  assert.equal(
    (await get(`/costs.csv?period=${before}`)).body.split('\n').length,
    3,
    'an unknown month is 30 days',
  );
  ann.says('/routines');
  await ann.dm.nextMessage();
  const stranger = set.telegram.person({ name: 'Bot', isBot: true });
  stranger.says('hello');
  await set.log.line(({ message }) => message === 'a message was not admitted');
  const audit = await get('/audit.csv?event=message_refused');
  assert.match(audit.body, /^seq,at,event,.*\n\d+,[^\n]*,message_refused,[^\n]*BOT/);
  assert.equal(audit.body.trim().split('\n').length, 2);
});

test('S8 D9 the page of skills shows states and texts; one that the bot wrote is enabled here', async (t) => {
  const report = '---\nname: report\ndescription: Makes reports.\n---\nMake one <b>now</b>.\n';
  const set = await startWholeBot(t, { toml: '[skills.report]\nenabled = false\n', skills: { report } });
  const visitor = await enter((await openDashboard(t, set, { acts })).newLink());
  assert.match(words(await visitor.get('/skills')), /report workspace Makes reports\. off/);
  const shown = await visitor.get('/skill?name=report');
  assert.match(shown.body, /Make one &#60;b&#62;now&#60;\/b&#62;\./);
  assert.match(words(await visitor.get('/skill?name=nowhere')), /There is no skill nowhere/);
  assert.match(
    words(await visitor.post('/skills/enable', { name: 'report' })),
    /report is no skill that the bot wrote/,
  );
});

test('S8 L2 the doctor’s findings are on a page, the worst first', async (t) => {
  const checks = [
    check('skills', '9 skills', [{ level: 'note', code: 'WEB_SEARCH_MISSING', message: 'no search' }]),
    check('disk', 'full', [{ level: 'warning', code: 'DISK_LOW', message: 'little is free' }]),
  ];
  const { get } = await enter((await openDashboard(t, await startWholeBot(t), { checks })).newLink());
  assert.match(
    words(await get('/checks')),
    /warning little is free .* Fix: .* note no search .* All checks .* note skills/,
  );
});

test('S8 long lists have pages and a filter', async (t) => {
  const one = {
    creator: { id: 'telegram:42', name: 'Ann', kind: 'person' },
    conversation: { channel: 'telegram', chat: '-100' },
    chatType: 'group',
  } as const;
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`r${n}`, { ...one, name: `Routine ${n}` }]),
  );
  const set = await plantRoutines(await startWholeBot(t), many, -3_600_000);
  const { get } = await enter((await openDashboard(t, set)).newLink());
  assert.match(words(await get('/routines')), /1–50 of 60 routines Next/);
  assert.match(words(await get('/routines?page=2')), /51–60 of 60 routines Previous/);
  assert.match(words(await get('/routines?page=99')), /51–60 of 60/);
  const found = words(await get('/routines?words=routine+59'));
  assert.match(found, /Routine 59 r59/);
  assert.match(found, /1 routine, of 60 in all/);
});
