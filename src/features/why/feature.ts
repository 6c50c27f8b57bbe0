import type { Feature } from '../../core/feature.ts';
import type { App } from '../../app.ts';
import { fixed } from '../../core/texts/say.ts';
import type { FeatureKit, Opened } from '../kit.ts';
import { answerWhy } from './answer-why.ts';

/** `/why`: who may do what, and by which rule (L13). */
export const why = {
  create: createWhy,
  commands: {
    why: {
      menu: fixed`Who may do what, and by which rule (owners)`,
      alone: true,
      help: (write, say) => say`${write('why')} says who may do what, and by which rule (owners)`,
      onlyWithMark: true,
    },
  },
} satisfies FeatureKit;

function createWhy(app: App, { explain, features }: Opened): Feature {
  return {
    name: 'why',
    commands: {
      why: (message, args, { write }) => answerWhy(message, args, write, { ...app, explain, features }),
    },
  };
}
