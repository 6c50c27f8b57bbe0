import type { TestContext } from 'node:test';
import { startWholeBot } from '../../test/support/whole-bot.ts';
import type { Drawing } from './draw.ts';
import { saidBy } from './said-by.ts';
import { shownOnTelegram } from './shown-on-telegram.ts';

const words = 'how far is it to the moon?';

/** Before its first answer the bot says what it is, what it keeps, and how to see and delete that. */
export async function firstWords(t: TestContext): Promise<readonly Drawing[]> {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: () => 'About **384,400 km**.',
    strangers: true,
  });
  const olga = telegram.person({ name: 'Olga' });
  olga.says(words);
  await olga.dm.nextMessage(/384,400/);
  const all = olga.dm.sent().map((sent) => shownOnTelegram(sent, '08:00'));
  return [{ platform: 'Telegram', title: 'Skillet', shown: [saidBy('Olga', '08:00', words), ...all] }];
}
