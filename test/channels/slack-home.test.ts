import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHomeView } from '../../src/channels/slack/home-tab.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { checkView } from '../servers/slack/check-view.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { equalData } from '../support/equal-data.ts';

type Visited = Extract<ChannelEvent, { type: 'home' }>;
const isVisit = (event: ChannelEvent): event is Visited => event.type === 'home';

/** Every visit shows one page, with a button. */
async function withHome(t: Parameters<typeof connectSlackChannel>[0]) {
  const shown = { words: 'Welcome.' };
  const connected = await connectSlackChannel(t, {
    async onEvent(event) {
      if (event.type !== 'home') return;
      event.showHome([{ markdown: shown.words, buttons: [{ label: 'Stop', action: 'stop' }] }]);
    },
  });
  const visits = async (count: number) => (await connected.events.untilCount(count, isVisit)) as Visited[];
  const { homes } = connected.slack;
  const shows = (words: RegExp) => homes.until(({ view }) => words.test(JSON.stringify(view)));
  return { ...connected, visits, shown, shows };
}

test('H4 whoever opens the Home tab is shown a page, which a button on it can change', async (t) => {
  const { slack, visits, shows } = await withHome(t);
  const anna = slack.workspace.addUser('anna');
  const dm = slack.workspace.dmWith(anna.id);
  await slack.people.openHome(anna);
  const [visit] = await visits(1);
  assert.deepEqual(visit?.visit.conversation, { channel: 'slack', chat: dm.id });
  equalData(
    [visit?.visit.chatType, visit?.visit.external, visit?.visit.sender],
    ['private', false, { id: `slack:${anna.id}`, name: 'anna', kind: 'person' }],
  );
  await shows(/Welcome\./);
  assert.equal((await slack.people.pressHome(anna, 'Stop')).ok, true);
  const [, pressed] = await visits(2);
  const { action, conversation, chatType, sender } = pressed?.visit ?? {};
  assert.deepEqual(
    [action, conversation, chatType, sender?.id],
    ['stop', visit?.visit.conversation, 'private', `slack:${anna.id}`],
  );
  pressed?.showHome([{ markdown: 'Stopped.' }]);
  await shows(/Stopped\./);
});

test('H4 a page that comes late does not cover what a button showed meanwhile', async (t) => {
  const { slack, visits, shows, log } = await withHome(t);
  const anna = slack.workspace.addUser('anna');
  await slack.people.openHome(anna);
  await slack.homes.untilCount(1);
  await slack.people.openHome(anna);
  await slack.homes.untilCount(2);
  const [, late] = await visits(2);
  await slack.people.pressHome(anna, 'Stop');
  await slack.homes.untilCount(3);
  const [, , pressed] = await visits(3);
  pressed?.showHome([{ markdown: 'Stopped.' }]);
  await shows(/Stopped\./);
  late?.showHome([{ markdown: 'As it was.' }]);
  assert.match(JSON.stringify(slack.homes.all().at(-1)?.view), /Stopped\./);
  const refused = await log.until(({ message }) => message === 'the Home tab could not be shown');
  assert.equal(refused.level, 'debug');
});

test('H8 pages wait for the pace of Slack, and of one person the newest is shown alone', async (t) => {
  const { slack, visits, shows } = await withHome(t);
  const anna = slack.workspace.addUser('anna');
  await slack.people.openHome(anna);
  await slack.homes.untilCount(1);
  const [visit] = await visits(1);
  slack.faults.next('views.publish', { kind: 'ratelimited' });
  visit?.showHome([{ markdown: 'One.' }]);
  await slack.calls.untilCount(2, ({ method }) => method === 'views.publish');
  visit?.showHome([{ markdown: 'Two.' }]);
  visit?.showHome([{ markdown: 'Three.' }]);
  await shows(/Three\./);
  assert.doesNotMatch(JSON.stringify(slack.homes.all()), /One\.|Two\./);
});

test('A9 who comes by a conversation that is shared with another company is a guest on the Home tab', async (t) => {
  const { slack, visits } = await withHome(t);
  const eve = slack.workspace.addUser('eve', { team: 'T0OTHER' });
  slack.workspace.addRoom('im', { members: [eve.id], external: true });
  await slack.people.openHome(eve);
  const [visit] = await visits(1);
  assert.deepEqual([visit?.visit.external, visit?.visit.sender.kind], [true, 'guest']);
});

test('H4 the Messages tab, a view that is no Home tab, and a refused page cost nothing', async (t) => {
  const { slack, events, log } = await withHome(t);
  const anna = slack.workspace.addUser('anna');
  const dm = slack.workspace.dmWith(anna.id);
  const opened = { type: 'app_home_opened', user: anna.id, channel: dm.id, tab: 'messages' };
  const payload = { type: 'event_callback', team_id: slack.workspace.team, event: opened };
  assert.equal((await slack.socket.transport('events_api', payload, undefined)).ok, true);
  const inModal = {
    type: 'block_actions',
    user: { id: anna.id, team_id: slack.workspace.team },
    container: { type: 'view', view_id: 'V1' },
    view: { id: 'V1', type: 'modal', private_metadata: dm.id },
    actions: [{ action_id: 'skillet:press:0', value: 'stop' }],
  };
  assert.equal((await slack.socket.transport('interactive', inModal, undefined)).ok, true);
  assert.equal(events.all().length, 0);
  slack.faults.next('views.publish', { kind: 'error', error: 'not_enabled' });
  assert.equal((await slack.people.openHome(anna))[0]?.acked, true);
  const refused = await log.until(({ message }) => message === 'the Home tab could not be shown');
  assert.equal(refused.level, 'warn');
});

test('H4 a page of any length is within the limits of a view, and nothing in it is markup of Slack', () => {
  const buttons = [{ label: 'Stop', action: 'stop' }];
  const long = Array.from({ length: 400 }, (_, line) => `- \`/skill no-${line}\` ${'長い説明 '.repeat(20)}`);
  const pages = [
    [{ markdown: '<!channel> & <@U1> *[here](https://example.com)*' }],
    [{ markdown: long.join('\n'), buttons }],
    Array.from({ length: 300 }, (_, line) => ({ markdown: `${line} ${'x'.repeat(2_900)}`, buttons })),
  ];
  for (const page of pages) {
    const view = toHomeView(page, 'D1');
    assert.deepEqual(checkView(view, 'home'), []);
    assert.ok(Buffer.byteLength(JSON.stringify(view)) < 250_000);
  }
  const [first] = toHomeView(pages[0] ?? [], 'D1')['blocks'] as { text: { text: string } }[];
  assert.match(first?.text.text ?? '', /&lt;.?!channel&gt;/u);
  assert.doesNotMatch(first?.text.text ?? '', /<[!@]/);
});
