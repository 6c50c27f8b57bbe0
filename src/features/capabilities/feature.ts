import type { ConfirmAccounts } from '../../capabilities/confirm-accounts.ts';
import { expired, type Feature } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { Log } from '../../lib/log.ts';

/** Systems that people link with their own accounts (C1-C9). */
export function capabilitiesFeature(deps: {
  confirmations: Pick<ConfirmAccounts, 'answer'>;
  log: Log;
}): Feature {
  return {
    name: 'capabilities',
    presses: {
      async link({ press: { sender, conversation } }, [id = '', value]) {
        const say = sayIn(sender.language);
        if (value !== 'yes' && value !== 'no') return { told: say(expired) };
        const from = { sender: sender.id, conversation, language: sender.language };
        const answered = await deps.confirmations.answer(id, from, value === 'yes');
        if (answered.kind === 'taken') return undefined;
        deps.log.info({ flow: id, sender: sender.id }, 'a press on a linked account did not count');
        return { told: 'text' in answered ? answered.text : say(expired) };
      },
    },
  };
}
