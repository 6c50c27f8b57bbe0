import type { TestContext } from 'node:test';
import { startWholeBot } from '../../test/support/whole-bot.ts';
import type { Drawing } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { shownOnSlack } from './shown-on-slack.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const words = 'list all bridges of Paris';
const begins = 'The oldest that is left is the Pont Neuf of 1607.';

/** One press ends an answer; what was written stays. */
export async function stopped(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram, slack } = await startWholeBot(t, {
    channels: ['telegram', 'slack'],
    slack: 'agent_view = true\n',
    toml: '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n',
    script: () => ({
      content: [{ type: 'text', text: begins }],
      wire: { hold: new Promise<void>(() => undefined) },
    }),
  });
  const olga = telegram.person({ name: 'Olga' });
  const group = telegram.group({ title: 'Travel' });
  olga.says(`@test_bot ${words}`, { in: group });
  const line = await group.nextMessage(begins);
  olga.presses(line.id, 'Stop', group);
  const kept = await telegram.until('the end', () =>
    group.sent().find(({ id, text }) => id === line.id && text.endsWith('Stopped.')),
  );

  const anna = slack.workspace.addUser('Olga');
  const asked = slack.people.dm(anna, words);
  const growing = shownOnSlack(
    structuredClone(await slack.posted(({ text }) => text.includes('1607'))),
    '20:15',
  );
  await slack.people.stop(anna, asked);
  const keptInSlack = await slack.posted(({ text }) => text.endsWith('Stopped.'));
  return [
    {
      platform: 'Telegram',
      title: 'Travel',
      shown: [
        saidBy('Olga', '20:15', words, '@test_bot'),
        noted('while it is written', shownOnTelegram(line, '20:15')),
        noted('after Olga presses Stop', shownOnTelegram(kept, '20:15')),
      ],
    },
    {
      platform: 'Slack',
      title: 'Skillet',
      shown: [
        saidBy('Olga', '20:15', words),
        noted('while it is written, with Slack’s own stop button', growing),
        noted('after Olga presses it', shownOnSlack(keptInSlack, '20:15')),
      ],
    },
  ];
}
