import type { TestContext } from 'node:test';
import { openDetails } from '../../test/support/open-details.ts';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { openDetailsOnSlack, shownAlone, shownOnSlack } from './shown-on-slack.ts';
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

/** In a group everybody reads who needs a yes; the call as it is, and its buttons, are shown to who may answer alone. */
export async function approval(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, {
    channels: ['telegram', 'slack'],
    toml: '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\ngroup_users = ["*"]\n[policy]\nmoderate = "confirm"\n',
    skills: { deploy },
    script,
  });
  const words = 'please restart the website';
  const olga = telegram.person({ name: 'Olga' });
  const group = telegram.group({ title: 'Ops' });
  olga.says(`@test_bot ${words}`, { in: group });
  const question = await group.nextMessage(/needs a yes/);
  const details = await openDetails(olga, question, group);
  olga.pressesAlone(details.id, 'Approve', group);
  const done = await group.nextMessage(/up again/);
  const agreed = await telegram.until('the question says so', () =>
    group.sent().find(({ id, text }) => id === question.id && text.startsWith('Approved')),
  );

  const anna = slack.workspace.addUser('Olga');
  const room = slack.workspace.addRoom('channel', { members: [anna.id], name: 'ops' });
  const root = slack.people.mention(anna, room, words);
  const inSlack = await slack.posted(({ text }) => /needs a yes/.test(text));
  const askedInSlack = shownOnSlack(structuredClone(inSlack), '09:41');
  const alone = await openDetailsOnSlack(slack, anna, inSlack);
  await slack.people.pressAlone(anna, alone, 'Approve');
  const agreedInSlack = await slack.posted(({ text, ts }) => ts === inSlack.ts && /^Approved/.test(text));
  const doneInSlack = await slack.posted(({ text, threadTs }) => threadTs === root.ts && /Done/.test(text));
  return [
    {
      platform: 'Telegram',
      title: 'Ops',
      shown: [
        saidBy('Olga', '09:41', words, '@test_bot'),
        shownOnTelegram(question, '09:41'),
        noted('Olga presses Details, and she alone sees', shownOnTelegram(details, '09:41')),
        noted('the question, after Approve', shownOnTelegram(agreed, '09:42')),
        shownOnTelegram(done, '09:42'),
      ],
    },
    {
      platform: 'Slack',
      title: '# ops',
      shown: [
        saidBy('Olga', '09:41', words, '@skillet'),
        askedInSlack,
        noted('Olga presses Details, and she alone sees', shownAlone(alone, '09:41')),
        noted('the question, after Approve', shownOnSlack(agreedInSlack, '09:42')),
        shownOnSlack(doneInSlack, '09:42'),
      ],
    },
  ];
}
