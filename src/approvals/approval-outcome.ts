import type { Ask, JsonValue } from '../store/asks.ts';
import { sayIn } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

/** What stands where the question was, in the language of who asked. */
export function outcomeText(ask: Ask): string {
  const { payload, state, answer } = ask;
  const say = sayIn(languageOf(ask));
  const tool = inlineCode(textOf(payload['tool']));
  const what = payload['skill'] === undefined ? tool : say`${tool} of ${textOf(payload['skill'])}`;
  if (state === 'expired') return say`Not approved in time, so denied: ${what}.`;
  if (state === 'cancelled') return say`Stopped: ${what}.`;
  const name = inlineCode(answer?.name ?? answer?.by ?? '');
  if (answer?.value === 'always') return say`Approved from now on, for any input, by ${name}: ${what}.`;
  return isApproved(ask) ? say`Approved by ${name}: ${what}.` : say`Denied by ${name}: ${what}.`;
}

/** The language of who asked: the message is theirs. */
export function languageOf({ payload }: Ask): string | undefined {
  return textOf(payload['language']);
}

export function isApproved({ answer }: Ask): boolean {
  return answer?.value === 'approve' || answer?.value === 'always';
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
