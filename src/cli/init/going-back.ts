import type { Dialog } from './dialog.ts';

/** Thrown when the person wants the question before this one. */
export class WentBack extends Error {
  override readonly name = 'WentBack';
}

type Kept = Readonly<{ value: unknown; isQuestion: boolean }>;

/**
 * Runs `gather` until it has all answers. If the person goes back, `gather` runs once more: it gets the other answers,
 * and what was found out meanwhile, from memory, and asks the question before again.
 */
export async function withWayBack<Result>(
  dialog: Dialog,
  gather: (dialog: Dialog) => Promise<Result>,
): Promise<Result> {
  const kept: Kept[] = [];
  for (;;) {
    try {
      return await gather(remembering(dialog, kept));
    } catch (error) {
      if (!(error instanceof WentBack)) throw error;
      while (kept.pop()?.isQuestion === false);
    }
  }
}

function remembering(dialog: Dialog, kept: Kept[]): Dialog {
  let at = 0;
  async function once<Value>(isQuestion: boolean, ask: () => Promise<Value>): Promise<Value> {
    const known = kept[at];
    const value = known === undefined ? await ask() : (known.value as Value);
    if (known === undefined) kept.push({ value, isQuestion });
    at += 1;
    return value;
  }
  return {
    ...dialog,
    say: (text) => (at < kept.length ? undefined : dialog.say(text)),
    text: (...given) => once(true, () => dialog.text(...given)),
    secret: (...given) => once(true, () => dialog.secret(...given)),
    confirm: (...given) => once(true, () => dialog.confirm(...given)),
    choose: (...given) => once(true, () => dialog.choose(...given)),
    during: (what, work) => once(false, () => dialog.during(what, work)),
  };
}
