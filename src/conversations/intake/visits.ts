import type { ChannelEvent } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { HomePage } from './home-page.ts';
import type { Presses } from './presses.ts';

/** Shows people their page, and does what they press there (H4). */
export type Visits = (
  event: Extract<ChannelEvent, { type: 'home' }>,
  say: (message: Message) => Promise<void>,
) => Promise<void>;

export function createVisits(options: { presses: Presses; page: HomePage }): Visits {
  const { presses, page } = options;
  return async ({ visit, showHome, ...more }, say) => {
    const { action, ...who } = visit;
    const told: string[] = [];
    if (action !== undefined) {
      const tell = (words: string): void => void told.push(words);
      const heard = async (message: Message): Promise<void> => {
        tell(sayIn(who.sender.language)`I answer in our direct message.`);
        await say(message);
      };
      await presses.press({ ...more, type: 'press', press: { ...who, action }, tell }, heard);
    }
    // Judged after the press, which may have changed it.
    showHome(await page(visit, told));
  };
}
