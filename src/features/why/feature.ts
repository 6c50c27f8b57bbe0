import type { Feature } from '../../core/feature.ts';
import { answerWhy, type WhyDeps } from './answer-why.ts';

/** `/why`: who may do what, and by which rule (L13). */
export function createWhy(deps: WhyDeps): Feature {
  return {
    name: 'why',
    commands: { why: (message, args, { write }) => answerWhy(message, args, write, deps) },
  };
}
