import type { TestContext } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { shownOnSlack } from './shown-on-slack.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const said = [
  ['Ben', 'The new printer does not print from the second floor.'],
  ['Eva', 'It does since I changed its address. The label still shows the old one.'],
  ['Ben', 'Then let us print a new label.'],
] as const;
const words = 'what did we decide?';

/** Sums up what it was shown of the talk, and nothing else. */
const script: NonNullable<WholeBotOptions['script']> = (body) => {
  const shown = JSON.stringify(body.messages);
  return said.every(([, text]) => shown.includes(text))
    ? '- Eva **changed the address** of the printer; it prints again.\n- A **new label** is to be printed.'
    : 'I did not see what was said.';
};

/** Asked into a talk of several people, the bot knows what was said. */
export async function thread(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, {
    channels: ['telegram', 'slack'],
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\ngroup_users = ["*"]\n',
    privacy: false,
    script,
  });
  const group = telegram.group({ title: 'Office' });
  const people = new Map(['Ben', 'Eva', 'Olga'].map((name) => [name, telegram.person({ name })]));
  for (const [name, text] of said) people.get(name)?.says(text, { in: group });
  people.get('Olga')?.says(`@test_bot ${words}`, { in: group });
  const answer = await group.nextMessage(/label/);

  const users = new Map(['Ben', 'Eva', 'Olga'].map((name) => [name, slack.workspace.addUser(name)]));
  const members = [...users.values()].map(({ id }) => id);
  const room = slack.workspace.addRoom('channel', { members, bot: false, name: 'office' });
  const of = (name: string) => users.get(name) ?? slack.workspace.addUser(name);
  const [[first, opening], ...rest] = said;
  const root = slack.people.post(of(first), room, opening);
  for (const [name, text] of rest) slack.people.post(of(name), room, text, { thread: root.ts });
  await slack.people.addBot(of('Olga'), room);
  slack.people.mention(of('Olga'), room, words, { thread: root.ts });
  const inSlack = await slack.posted(({ threadTs, text }) => threadTs === root.ts && text.includes('label'));

  const talk = said.map(([who, text], index) => person(who, index === 0 ? '09:41' : '09:43', text));
  const asked = { ...person('Olga', '09:50', ` ${words}`) };
  const inThread = [...talk.slice(1), { ...asked, spans: [mention('@skillet'), ...asked.spans] }];
  return [
    {
      platform: 'Telegram',
      title: 'Office',
      shown: [
        ...talk,
        { ...asked, spans: [mention('@test_bot'), ...asked.spans] },
        shownOnTelegram(answer, '09:50', `Olga: @test_bot ${words}`),
      ],
    },
    {
      platform: 'Slack',
      title: '# office',
      shown: [
        ...talk.slice(0, 1),
        ...inThread.map((each) => ({ ...each, inThread: true })),
        shownOnSlack(inSlack, '09:50'),
      ],
    },
  ];
}

function person(who: string, at: string, text: string): Shown {
  return { who, isBot: false, at, spans: [{ text }] };
}

function mention(text: string) {
  return { text, style: 'link' } as const;
}
