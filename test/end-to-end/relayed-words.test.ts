import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { Person } from '../servers/telegram/person.ts';
import { openDetails } from '../support/open-details.ts';
import { isRun } from '../support/call-steps.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml = [
  '[bot]\nowner = ["telegram:1"]',
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]',
  '[agent]\ntools = ["use_skill", "web_fetch"]\n[skills]\nbundled = false\n',
].join('\n');
const skills = { diary: '---\nname: diary\ndescription: Keeps a diary.\nsensitive: true\n---\nTell it.\n' };
const secret = 'The diary says: lunch with Bob on Friday, and nobody may know.';
const lastOf = ({ messages }: MessagesRequest): string => JSON.stringify(messages.at(-1)?.content);
const call = (name: string, input: object) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${crypto.randomUUID().slice(0, 8)}`, name, input }],
});

/** Tells the diary on "tell diary", fetches on "fetch it", and says hello otherwise. */
const script: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = lastOf(body);
  if (isRun(body)) return secret;
  if (last.includes('tool_result')) return /lunch/.test(last) ? `**${secret}**` : 'Fetched.';
  if (/tell diary/.test(last)) return call('use_skill', { skill: 'diary', message: 'go' });
  return /fetch it/.test(last)
    ? call('web_fetch', { url: 'http://127.0.0.1:9/?d=it' })
    : 'Hello there, how are you?';
};
const question = /want to use.*web_fetch.*reaches outside/s;

test('S7 S13 the bot’s own words keep their mark when they are passed on into a group, however they get there', async (t) => {
  const { telegram } = await startWholeBot(t, { flood: false, toml, skills, script });
  const ann = telegram.person({ name: 'Ann' });
  const bob = telegram.person({ name: 'Bob' });
  const room = (title: string) => telegram.group({ title });
  const forwardedFrom = telegram.me;
  ann.says('hello');
  await ann.dm.nextMessage(/how are you/);
  // What nothing private was said before is as free as it was.
  const free = room('Free');
  ann.says('Hello there, how are you?', { in: free, forwardedFrom });
  bob.says('hello');
  await bob.dm.nextMessage(/how are you/);
  ann.says('@test_bot fetch it', { in: free });
  await free.nextMessage('Fetched.');

  ann.says('tell diary');
  await ann.dm.nextMessage(/lunch with Bob/);
  /** The person whom the call is for sees why, and nobody else does. */
  const asks = async (title: string, scene: (place: ReturnType<typeof room>) => Person): Promise<void> => {
    const place = room(title);
    const who = scene(place);
    const asked = await place.nextMessage(/need a yes|Fetched/);
    assert.match(asked.text, /need a yes to use web_fetch/, title);
    assert.match((await openDetails(who, asked, place)).text, question, title);
  };
  await asks('forwarded before', (place) => {
    ann.says(secret, { in: place, forwardedFrom });
    ann.says('@test_bot fetch it', { in: place });
    return ann;
  });
  await asks('a part of it', (place) => {
    ann.says(secret.slice(4, 50), { in: place, forwardedFrom });
    ann.says('@test_bot fetch it', { in: place });
    return ann;
  });
  await asks('answered', (place) => {
    const id = ann.says(secret, { in: place, forwardedFrom });
    bob.says('@test_bot fetch it', { in: place, replyTo: id });
    return bob;
  });
  await asks('of nobody knows where', (place) => {
    bob.says('Something that I said somewhere.', { in: place, forwardedFrom });
    bob.says('@test_bot fetch it', { in: place });
    return bob;
  });
  await asks('by somebody else', (place) => {
    bob.says(secret, { in: place, forwardedFrom });
    bob.says('@test_bot fetch it', { in: place });
    return bob;
  });
});

test('S7 S13 after /new the bot’s own words are marked as they were, also when they are forwarded in the same chat', async (t) => {
  const { telegram } = await startWholeBot(t, { flood: false, toml, skills, script });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('tell diary');
  await ann.dm.nextMessage(/lunch with Bob/);
  ann.says('/new');
  await ann.dm.nextMessage(/New conversation/);
  ann.says('fetch it');
  await ann.dm.nextMessage('Fetched.');
  ann.says(secret, { forwardedFrom: telegram.me });
  await ann.dm.nextMessage(/how are you/);
  ann.says('fetch it');
  assert.match((await ann.dm.nextMessage(/want to use|Fetched/)).text, question);
});
