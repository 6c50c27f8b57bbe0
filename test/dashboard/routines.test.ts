import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plantRoutines } from '../support/plant-routine.ts';
import { ask, enter, openDashboard, type Answer } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const inAnHour = -3_600_000;
const creator = { id: 'telegram:42', name: 'Ann', kind: 'person' } as const;
const conversation = { channel: 'telegram', chat: '-100' } as const;
const watch = { creator, conversation, chatType: 'group', name: 'Watch <b>' } as const;
const toml =
  '[[routines]]\nname = "greeting"\nwhen = "0 9 * * 1"\ntask = "x"\nas = "telegram:42"\nconversation = "telegram:42"\n';

function rowsOf({ body }: Answer): readonly string[] {
  const rows = [...body.matchAll(/<tr role="row">([^]*?)<\/tr>/g)].slice(1);
  return rows.map(([, row = '']) =>
    row
      .replace(/<input[^>]*>|<[^>]*>/g, ' ')
      .replace(/in \d+ (min|h)/, 'TIME')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

test('S8 N2 L6 the page of routines shows whose, where, when and how, and changes them with --act in that person’s name', async (t) => {
  const set = await plantRoutines(
    await startWholeBot(t, { toml }),
    { watch, yoga: { creator, name: 'canary' } },
    inAnHour,
  );
  const reader = await enter((await openDashboard(t, set)).newLink());
  const shown = await reader.get('/routines');
  assert.deepEqual(rowsOf(shown), [
    'Watch &#60;b&#62; watch telegram:42 telegram:-100 TIME',
    '(direct) yoga telegram:42 telegram:42 TIME',
    'greeting config-greeting telegram:42 telegram:42 TIME set up in config.toml',
  ]);
  assert.doesNotMatch(shown.body, /<form method|canary/);
  for (const action of ['/routines/pause', '/routines/remove', '/inbox/drop', '/memory/remove']) {
    const { status, body } = await reader.post(action, { id: 'watch', key: 'watch' });
    assert.equal(status, 403);
    assert.match(body, /Read-only/, action);
  }

  const actor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  assert.deepEqual(
    rowsOf(await actor.get('/routines')).map((row) => row.replace(/^.*TIME ?/, '')),
    ['Pause Remove', 'Pause Remove', 'Pause set up in config.toml'],
  );
  const paused = await actor.post('/routines/pause', { id: 'watch' });
  assert.match(paused.body, /watch is paused\./);
  assert.match(rowsOf(paused)[0] ?? '', /telegram:-100 paused Resume Remove/);
  assert.match((await actor.post('/routines/resume', { id: 'watch' })).body, /watch is active\./);
  assert.match((await actor.post('/routines/remove', { id: 'yoga' })).body, /yoga is removed\./);
  assert.match((await actor.post('/routines/remove', { id: 'yoga' })).body, /there is no routine yoga/);
  const fixed = await actor.post('/routines/remove', { id: 'config-greeting' });
  assert.match(fixed.body, /config-greeting is set up in config\.toml: remove it there/);

  const lines = await set.bot.operate('audit tail', { lines: 10, kind: 'routine' });
  assert.deepEqual(
    lines.map((line) => {
      const { verdict, id, sender, by } = JSON.parse(line) as Readonly<Record<string, string>>;
      return [verdict, id, sender, by];
    }),
    [
      ['paused', 'watch', 'telegram:42', 'telegram:7'],
      ['resumed', 'watch', 'telegram:42', 'telegram:7'],
      ['removed', 'yoga', 'telegram:42', 'telegram:7'],
    ],
  );
});

test('S8 a form changes something only with its token and the page’s own origin, and up to a size', async (t) => {
  const set = await plantRoutines(await startWholeBot(t), { watch }, inAnHour);
  const { origin, cookie, get } = await enter((await openDashboard(t, set, { acts: {} })).newLink());
  const [, token = ''] = /name="token"\s+value="([^"]+)"/.exec((await get('/routines')).body) ?? [];
  assert.notEqual(token, '');
  const sent = async (
    headers: Readonly<Record<string, string>>,
    more: Readonly<Record<string, string>> = {},
  ) =>
    (
      await ask(`${origin}/routines/pause`, {
        headers: { cookie, ...headers },
        form: { id: 'watch', token, ...more },
      })
    ).status;
  const site = 'sec-fetch-site';
  assert.equal(await sent({}), 403, 'no origin');
  assert.equal(await sent({ origin: 'http://evil.example' }), 403);
  assert.equal(await sent({ origin, [site]: 'same-site' }), 403);
  assert.equal(await sent({ origin, 'content-type': 'text/plain' }), 403);
  assert.equal(await sent({ origin }, { token: `${token}a` }), 403);
  assert.equal(await sent({ origin }, { more: 'a'.repeat(17_000) }), 403);
  assert.doesNotMatch((await get('/routines')).body, /paused/);
  assert.equal(await sent({ origin, [site]: 'same-origin' }, { more: 'a'.repeat(15_000) }), 303);
  assert.match((await get('/routines')).body, /watch is paused\./);
  assert.doesNotMatch((await get('/routines')).body, /watch is paused\./, 'said once');
});
