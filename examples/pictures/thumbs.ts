import type { TestContext } from 'node:test';
import { startWholeBot } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const words = { ask: 'when is the tide high?', why: 'That was yesterday. Today it is at 15:20.' };

/** A thumb down in a group: the bot asks the person alone what was wrong, and they tell it alone. */
export async function thumbs(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n',
    script: () => 'High tide is at **14:30**.',
  });
  const [olga, ben] = [telegram.person({ name: 'Olga' }), telegram.person({ name: 'Ben' })];
  const group = telegram.group({ title: 'Sailors' });
  group.setBot('administrator');
  olga.says(`@test_bot ${words.ask}`, { in: group });
  const answer = await group.nextMessage(/14:30/);
  ben.reacts(answer.id, ['👎'], group);
  const asked = await group.nextShownTo(ben);
  ben.whispers(words.why, { in: group, replyTo: asked.id });
  const thanks = await group.nextShownTo(ben);
  const rated = shownOnTelegram(answer, '07:30');
  const withThumb: Shown = { ...rated, spans: [...rated.spans, { text: '\n👎 Ben', style: 'faint' }] };
  return [
    {
      platform: 'Telegram',
      title: 'Sailors',
      shown: [
        saidBy('Olga', '07:30', words.ask, '@test_bot'),
        withThumb,
        noted('only Ben sees', shownOnTelegram(asked, '07:31')),
        noted('only the bot sees', saidBy('Ben', '07:32', words.why)),
        noted('only Ben sees', shownOnTelegram(thanks, '07:32')),
      ],
    },
  ];
}
