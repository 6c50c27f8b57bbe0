import type { TestContext } from 'node:test';
import { startWholeBot } from '../../test/support/whole-bot.ts';
import type { Drawing } from './draw.ts';
import { noted, saidBy } from './said-by.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const skills = {
  payroll: '---\nname: payroll\ndescription: Looks up what people earn.\n---\nLook it up.\n',
  rota: '---\nname: rota\ndescription: Says who is on duty.\n---\nLook it up.\n',
};

/** In a group a refusal and `/whoami` are read by the person who asked, and by nobody else. */
export async function alone(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram } = await startWholeBot(t, {
    toml: '[bot]\nowner = ["telegram:1"]\n[access]\nusers = ["telegram:1", "telegram:2"]\ngroups_mode = "open"\n[skills]\nbundled = false\n[skills.payroll]\nallow_users = ["telegram:1"]\n',
    skills,
    script: () => 'It is on Friday at ten.',
  });
  const [olga, ben] = [telegram.person({ name: 'Olga', id: 1 }), telegram.person({ name: 'Ben', id: 2 })];
  const group = telegram.group({ title: 'Team' });
  group.setBot('administrator');
  await telegram.until('the menus', () => telegram.menus().has('all_group_chats'));
  ben.says('/skill@test_bot payroll of Eva', { in: group });
  const refused = await group.nextShownTo(ben);
  olga.whispers('/whoami', { in: group });
  const whoami = await group.nextShownTo(olga);
  ben.says('@test_bot when do we meet?', { in: group });
  const answer = await group.nextMessage(/Friday/);
  return [
    {
      platform: 'Telegram',
      title: 'Team',
      shown: [
        saidBy('Ben', '11:05', '/skill payroll of Eva'),
        noted('only Ben sees', shownOnTelegram(refused, '11:05')),
        noted('only the bot sees', saidBy('Olga', '11:06', '/whoami')),
        noted('only Olga sees', shownOnTelegram(whoami, '11:06')),
        saidBy('Ben', '11:08', 'when do we meet?', '@test_bot'),
        shownOnTelegram(answer, '11:08'),
      ],
    },
  ];
}
