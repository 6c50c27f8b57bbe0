import type { TestContext } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { shownOnSlack } from './shown-on-slack.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const deploy =
  '---\nname: deploy\ndescription: Restarts a service of the team.\nallowed-tools: bash\n---\nRestart the service that is named.\n';

/** Has a service restarted, and says only what the command showed. */
const script: NonNullable<WholeBotOptions['script']> = (body) => {
  const last = JSON.stringify(body.messages.at(-1));
  const isRun = JSON.stringify(body.system).includes('You carry out the skill');
  if (!isRun && !last.includes('tool_result'))
    return call('use_skill', { skill: 'deploy', message: 'Restart the website.' });
  if (isRun && !last.includes('tool_result'))
    return call('bash', { command: 'echo restart website; echo "website: up again after 2 s"' });
  const said = /up again after 2 s/.exec(last)?.[0];
  return said === undefined ? 'It did not work.' : `Done: the website is **${said}**.`;
};

function call(name: string, input: object) {
  return { content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }] };
}

/** A risky call is shown as it is, and waits for a yes. */
export async function approval(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, {
    channels: ['telegram', 'slack'],
    toml: '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\ngroup_users = ["*"]\n[policy]\nmoderate = "confirm"\n',
    skills: { deploy },
    script,
  });
  const words = 'please restart the website';
  const olga = telegram.person({ name: 'Olga' });
  olga.says(words);
  const question = await olga.dm.nextMessage(/wants to use/);
  const asked = shownOnTelegram(question, '09:41');
  olga.presses(question.id, 'Approve');
  const done = await olga.dm.nextMessage(/up again/);
  const person = (at: string): Shown => ({ who: 'Olga', isBot: false, at, spans: [{ text: words }] });

  const anna = slack.workspace.addUser('Olga');
  const room = slack.workspace.addRoom('channel', { members: [anna.id], name: 'ops' });
  const root = slack.people.mention(anna, room, words);
  const inSlack = await slack.posted(({ text, deleted }) => !deleted && /wants to use/.test(text));
  const askedInSlack = shownOnSlack(structuredClone(inSlack), '09:41');
  await slack.people.press(anna, inSlack, 'Approve');
  const doneInSlack = await slack.posted(({ text, threadTs }) => threadTs === root.ts && /Done/.test(text));
  return [
    {
      platform: 'Telegram',
      title: 'Skillet',
      shown: [person('09:41'), asked, shownOnTelegram(done, '09:42')],
    },
    {
      platform: 'Slack',
      title: '# ops',
      shown: [
        { ...person('09:41'), spans: [{ text: '@skillet', style: 'link' }, { text: ` ${words}` }] },
        askedInSlack,
        shownOnSlack(doneInSlack, '09:42'),
      ],
    },
  ];
}
