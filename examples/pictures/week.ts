import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../../test/support/whole-bot.ts';
import type { Drawing, Shown } from './draw.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const toml =
  '[bot]\ntimezone = "Europe/Berlin"\n[access]\ngroups_mode = "open"\ngroup_users = ["*"]\n[skills]\nbundled = false\n';

/** What Olga asks for, and the routine that the model makes of it. */
const wishes = {
  digest: {
    words: 'every Monday at 9, say what we decided last week',
    routine: { name: 'Monday digest', when: 'every monday at 9:00', task: 'Say what we decided last week.' },
  },
  check: {
    words: 'look at the sign-up page every day at 8 and tell us only if something is wrong',
    routine: { name: 'Sign-up page', when: '0 8 * * *', task: 'Look at the sign-up page.', quiet: true },
  },
  numbers: {
    words: 'post the sign-ups of the day on weekdays at 17:30',
    routine: { name: 'Sign-ups', when: 'every weekday at 17:30', task: 'Post the sign-ups of the day.' },
  },
  reminder: {
    words: 'on Thursday at 15:00 remind us to send the invitations',
    routine: { when: '2026-01-15T15:00', task: 'Send the invitations.', reminder: true },
  },
} as const;

const decided = 'Then it is decided: we open on 22 January.';
const digest = '- We **open on 22 January**.';

/** Sets up what is asked for, and knows of last week only what it is shown. */
const script: NonNullable<WholeBotOptions['script']> = (body, index) => {
  const last = JSON.stringify(body.messages.at(-1));
  if (last.includes('tool_result')) return `Done. Next: ${/Next: (.*?)\. Tell/.exec(last)?.[1] ?? 'never'}.`;
  const [, name, due] = /This is the routine [\\"]+([\w -]+)[\\"]+ of .*?, due at ([^.]*)/.exec(last) ?? [];
  if (name === wishes.digest.routine.name)
    return JSON.stringify(body.messages).includes(decided) ? digest : 'I did not see what was said.';
  if (name === wishes.check.routine.name)
    return due?.includes('2026-01-14') === true
      ? 'The sign-up page answers with **error 503**.'
      : 'NOTHING_TO_REPORT';
  if (name === wishes.numbers.routine.name) return 'TASK_FAILED: The list of sign-ups does not open.';
  const wish = Object.values(wishes).find(({ words }) => last.includes(words));
  if (wish === undefined) return 'Yes?';
  return {
    content: [{ type: 'tool_use', id: `toolu_${index}`, name: 'routine_add', input: wish.routine }],
  };
};

/** A week of January 2026 in a team's group, in a few seconds: the bot's clock is set from one time to the next. */
export async function week(t: TestContext): Promise<readonly Drawing[]> {
  const clock = t.mock.timers;
  const setClock = (day: number, time: string): void =>
    clock.setTime(Date.parse(`2026-01-${String(day).padStart(2, '0')}T${time}+01:00`));
  clock.enable({ apis: ['Date'] });
  setClock(11, '17:00');
  const first = await startWholeBot(t, { toml, script, privacy: false, flood: false });
  const { telegram, messages } = first;
  const group = telegram.group({ title: 'Launch team' });
  const [olga, ben] = ['Olga', 'Ben'].map((name) => telegram.person({ name }));
  assert.ok(olga && ben);
  const shown: Shown[] = [];
  const asks = async (words: string, at: string): Promise<void> => {
    olga.says(`@test_bot ${words}`, { in: group });
    const answer = await group.nextMessage(/^Done/);
    const spans = [{ text: '@test_bot', style: 'link' } as const, { text: ` ${words}` }];
    shown.push({ who: 'Olga', isBot: false, at, spans }, shownOnTelegram(answer, at));
  };
  const comes = async (day: number, time: string, what: RegExp, at: string): Promise<void> => {
    setClock(day, time);
    await first.bot.idle();
    shown.push(shownOnTelegram(await group.nextMessage(what), at));
  };
  const nothingComes = async (day: number): Promise<void> => {
    setClock(day, '08:00');
    const sent = group.everSent().length;
    const asked = messages.requests.length;
    await first.bot.idle();
    await telegram.until('it was checked', () => messages.requests.length === asked + 1);
    await first.bot.idle();
    assert.equal(group.everSent().length, sent);
  };

  ben.says(decided, { in: group });
  shown.push({ who: 'Ben', isBot: false, at: 'Sun 17:00', spans: [{ text: decided }] });
  setClock(11, '18:00');
  await asks(wishes.digest.words, 'Sun 18:00');
  await asks(wishes.check.words, 'Sun 18:00');
  await asks(wishes.numbers.words, 'Sun 18:00');
  await nothingComes(12);
  await comes(12, '09:00', /Monday digest/, 'Mon 09:00');
  await comes(12, '17:30', /Sign-ups/, 'Mon 17:30');
  await nothingComes(13);
  setClock(13, '10:00');
  await asks(wishes.reminder.words, 'Tue 10:00');
  await comes(13, '17:30', /Sign-ups/, 'Tue 17:30');
  await comes(14, '08:00', /503/, 'Wed 08:00');
  await comes(14, '17:30', /paused/, 'Wed 17:30');
  await nothingComes(15);
  await first.bot.close();
  setClock(15, '15:20');
  const second = await first.restart();
  shown.push(shownOnTelegram(await group.nextMessage(/Reminder/), 'Thu 15:20'));
  await second.bot.idle();
  return [{ platform: 'Telegram', title: 'Launch team', shown }];
}
