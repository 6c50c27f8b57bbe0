import type { Answer, Feature } from '../../core/feature.ts';
import type { Message } from '../../core/message.ts';

/** `/why`: who may do what, and by which rule (L13). */
export function whyFeature({
  why,
}: {
  why: Readonly<{
    answer(message: Message, args: string, write: (name: string, args?: string) => string): Promise<Answer>;
  }>;
}): Feature {
  return { name: 'why', commands: { why: (message, args, { write }) => why.answer(message, args, write) } };
}
