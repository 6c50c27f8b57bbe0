import type { LeanAnswer } from '../lean/lean-platform.ts';

/** What people heard, against what they said and what the outbox counted. */
export type ScaleCounts = Readonly<{
  said: number;
  answered: number;
  /** Said and never answered: must be empty. */
  lost: readonly string[];
  /** Answers behind one to a later message of their conversation: must be empty. A copy directly behind its like is none. */
  disordered: readonly string[];
  /** Further copies of answers. */
  repeated: number;
  /** Copies that the outbox counted as sent again because nobody knew whether they had arrived. */
  explained: number;
  /** Answers to nothing that was said, such as apologies: must be empty. */
  strange: readonly string[];
}>;

/** Sends that were made again although they may have arrived, as the outbox counted them. `text`: of a file its name. */
export type Repeat = Readonly<{ chat: number; text: string; repeats: number }>;

export function repeatsOf(repeats: readonly Repeat[], chat: number, text: string): number {
  return repeats
    .filter((each) => each.chat === chat && each.text === text)
    .reduce((sum, each) => sum + each.repeats, 0);
}

export function countScale(
  said: ReadonlyMap<number, number>,
  answers: ReadonlyMap<number, readonly LeanAnswer[]>,
  repeats: readonly Repeat[],
): ScaleCounts {
  const lost: string[] = [];
  const disordered: string[] = [];
  const strange: string[] = [];
  const counted = { said: 0, answered: 0, repeated: 0, explained: 0 };
  for (const [chat, count] of said) {
    const all = (answers.get(chat) ?? []).map(({ text }) => text);
    const greetings = all.filter(isGreeting);
    const heard = all.filter((text) => !isGreeting(text));
    // Each person writes in a chat of their own, and hears the first words there once (U19).
    const sentAgain = repeats
      .filter((each) => each.chat === chat && isGreeting(each.text))
      .reduce((sum, each) => sum + each.repeats, 0);
    if (greetings.length === 0 || greetings.length > 1 + sentAgain)
      strange.push(`${greetings.length} times the first words in ${chat}`);
    const numbers = heard.map((text) => Number(/^message (\d+)$/.exec(text)?.[1] ?? NaN));
    heard.forEach((text, at) => {
      if (!((numbers[at] ?? NaN) < count)) strange.push(`"${text}" in ${chat}`);
    });
    const once = numbers.filter((number, at) => number !== numbers[at - 1]);
    once.forEach((number, at) => {
      if (once.slice(0, at).some((earlier) => earlier > number)) disordered.push(`${number} in ${chat}`);
    });
    counted.said += count;
    for (let number = 0; number < count; number++) {
      const copies = numbers.filter((each) => each === number).length;
      if (copies === 0) lost.push(`${number} in ${chat}`);
      else counted.answered += 1;
      const more = Math.max(0, copies - 1);
      counted.repeated += more;
      counted.explained += Math.min(more, repeatsOf(repeats, chat, `message ${number}`));
    }
  }
  return { ...counted, lost, disordered, strange };
}

function isGreeting(text: string): boolean {
  return text.startsWith('Hello, I am Skillet, an AI.');
}
