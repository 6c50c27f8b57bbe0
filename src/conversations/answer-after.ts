import type { LoopResult } from '../agent/next-step.ts';
import { ModelError } from '../core/errors.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import { hasVisible } from '../lib/text/text.ts';

const nothingToSay = fixed`I couldn’t come up with an answer. Could you rephrase?`;
const stopped = fixed`Stopped.`;
/** What the model reads about a turn that was stopped. */
export const stoppedByPerson = 'The person stopped the work on this.';

/** What a person reads when the loop has ended. Throws if the turn is to be taken again, with the cause. */
export async function answerAfter(
  ended: LoopResult,
  {
    language,
    signal,
    restoreWords,
    noteStop,
  }: Readonly<{
    language: string | undefined;
    signal: AbortSignal;
    restoreWords: (() => Promise<string>) | undefined;
    noteStop(): Promise<void>;
  }>,
): Promise<Readonly<{ text: string; failed: boolean }>> {
  if (isShuttingDown(signal)) throw signal.reason;
  if (ended.passing === true) throw new ModelError(ended.text, { sentence: ended.text, passing: true });
  const say = sayIn(language);
  if (ended.code === 'CANCELLED' || ended.code === 'TIMEOUT') {
    const parts = [ended.text, (await restoreWords?.()) ?? '', say(stopped)];
    await noteStop();
    return { text: parts.filter((part) => part !== '').join('\n\n'), failed: false };
  }
  if (ended.code === 'MODEL_ERROR' || ended.code === 'LIMIT_REACHED')
    return { text: say(ended.text), failed: true };
  return { text: hasVisible(ended.text) ? ended.text : say(nothingToSay), failed: false };
}
