import { openStage } from './stage.ts';

export type Streaming = Readonly<{
  where: 'private' | 'group';
  /** Milliseconds from the request reaching the model, which begins to write at once, to the first call that shows words. */
  firstWords: readonly number[];
  /** Until the answer was there whole. */
  whole: readonly number[];
  /** Calls by method, as a mean of all answers. */
  calls: readonly (readonly [method: string, count: number])[];
}>;

const text = `${'This is one more sentence of a long answer. '.repeat(60)}The end.`;
const dripMs = 100;
/** Calls that show something of an answer. */
const shown = ['sendMessage', 'sendMessageDraft', 'editMessageText'];

/** Answers that are written slowly, in a private chat and in a group, at the platform's pace. */
export async function measureStreaming(answers: number): Promise<readonly Streaming[]> {
  const measured: Streaming[] = [];
  for (const where of ['private', 'group'] as const) {
    const { telegram, lastAsked, close } = await openStage({
      bot: 'skillet',
      modelMs: 0,
      answer: { text, dripMs },
    });
    const person = telegram.person();
    const group = where === 'group' ? telegram.group() : undefined;
    const room = group ?? person.dm;
    const firstWords: number[] = [];
    const whole: number[] = [];
    const before = telegram.calls().length;
    for (let n = 0; n < answers; n++) {
      const from = telegram.calls().length;
      const seen = (): number =>
        telegram
          .calls()
          .slice(from)
          .filter(({ method }) => shown.includes(method)).length;
      if (group === undefined) person.says(`question ${n}`);
      else person.says(`@test_bot question ${n}`, { in: group });
      await telegram.until('words', () => seen() > 0 || undefined);
      firstWords.push(performance.now() - lastAsked());
      await telegram.until(
        'the whole answer',
        () => room.sent().at(n)?.text.endsWith('The end.') || undefined,
      );
      whole.push(performance.now() - lastAsked());
    }
    const calls = telegram
      .calls()
      .slice(before)
      .filter(({ method }) => shown.includes(method));
    measured.push({
      where,
      firstWords,
      whole,
      calls: shown.map((method) => [method, calls.filter((call) => call.method === method).length / answers]),
    });
    await close();
  }
  return measured;
}
