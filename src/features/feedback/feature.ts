import type { App, Desk } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { thumbWord } from '../../core/rating.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { FeatureKit } from '../kit.ts';
import { createAskWhy, whyWord } from './ask-why.ts';
import { createEarlyThumbs } from './early-thumbs.ts';
import { giveThumb, thumbsOn } from './give-thumb.ts';
import { madeWith } from './made-with.ts';
import { feedbackOperations } from './operations.ts';

/** Thumbs under answers, which can become tests of skills (U17). */
export const feedback = {
  create: createFeedback,
  atRest: (desk: Desk) => ({ operations: feedbackOperations(desk) }),
} satisfies FeatureKit;

function createFeedback(app: App): Feature {
  const why = createAskWhy(app);
  const early = createEarlyThumbs(app, async ({ press, words }) => {
    const { conversation, receipt } = press;
    if ((await app.store.outbox.sentAs(conversation, receipt?.id ?? '')) === undefined) return false;
    await giveThumb({ type: 'press', press }, words, { ...app, why });
    return true;
  });
  return {
    name: 'feedback',
    ...feedback.atRest(app),
    async turn(turn) {
      const { conversation, sender, ephemeral } = turn.message;
      const by = thumbsOn(conversation.channel, app);
      // Platforms offer no reactions to what one person alone sees.
      if (by === undefined || ephemeral === true) return undefined;
      const say = sayIn(sender.language);
      const thumbs = by === 'buttons' ? { up: say`Good answer`, down: say`Bad answer` } : undefined;
      return { rateable: async (entries) => ({ made: await madeWith(entries, turn, app), thumbs }) };
    },
    presses: {
      [thumbWord]: async (event, [what = '', ...words]) =>
        what === whyWord
          ? why.open(event, words[0] ?? '')
          : giveThumb(event, [what, ...words], { ...app, why, keepEarly: early.keep }),
    },
    attend: early.attend,
    form: async (filled) => {
      await why.takeForm(filled);
      return undefined;
    },
    takes: { answer: why.takeReply },
  };
}
