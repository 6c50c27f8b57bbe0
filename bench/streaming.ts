import { openStage, type Stage } from './stage.ts';

export type Streaming = Readonly<{
  where: string;
  /** Milliseconds from the request reaching the model, which begins to write at once, to the first call that shows words. */
  firstWords: readonly number[];
  /** Until the answer was there whole. */
  whole: readonly number[];
  /** Calls by method, as a mean of all answers. */
  calls: readonly (readonly [method: string, count: number])[];
}>;

const text = `${'This is one more sentence of a long answer. '.repeat(60)}The end.`;
const dripMs = 100;

/** A chat in which one person asks, seen from outside. */
type Place = Readonly<{
  asks(text: string): void;
  /** Methods that show something of an answer, as they were called. */
  shown(): readonly string[];
  /** Resolves with what is asked of it. */
  until(what: string, isSo: () => boolean): Promise<unknown>;
  /** Answers that are there whole. */
  answers(): number;
}>;

const places: Readonly<Record<string, (stage: Stage) => Place>> = {
  'Telegram, private': (stage) => onTelegram(stage, false),
  'Telegram, group': (stage) => onTelegram(stage, true),
  'Slack, direct message': (stage) => onSlack(stage, false),
  'Slack, channel': (stage) => onSlack(stage, true),
};

/** Answers that are written slowly, at the platform's pace. */
export async function measureStreaming(answers: number): Promise<readonly Streaming[]> {
  const measured: Streaming[] = [];
  for (const [where, placeOn] of Object.entries(places)) {
    const stage = await openStage({
      bot: 'skillet',
      modelMs: 0,
      slack: where.startsWith('Slack'),
      agentView: where.startsWith('Slack'),
      answer: { text, dripMs },
    });
    const place = placeOn(stage);
    const firstWords: number[] = [];
    const whole: number[] = [];
    // A first contact is also told who speaks (U19).
    place.asks('hello');
    await place.until('the first answer', () => place.answers() > 0);
    const first = place.shown().length;
    for (let n = 1; n <= answers; n++) {
      const before = place.shown().length;
      place.asks(`question ${n}`);
      await place.until('words', () => place.shown().length > before);
      firstWords.push(performance.now() - stage.lastAsked());
      await place.until('the whole answer', () => place.answers() > n);
      whole.push(performance.now() - stage.lastAsked());
    }
    const calls = Object.entries(Object.groupBy(place.shown().slice(first), (method) => method)).map(
      ([method, all = []]) => [method, all.length / answers] as const,
    );
    measured.push({ where, firstWords, whole, calls });
    await stage.close();
  }
  return measured;
}

function onTelegram({ telegram }: Stage, isGroup: boolean): Place {
  const methods = ['sendMessage', 'sendMessageDraft', 'editMessageText'];
  const person = telegram.person();
  const group = isGroup ? telegram.group() : undefined;
  const room = group ?? person.dm;
  return {
    asks: (question) =>
      group === undefined ? person.says(question) : person.says(`@test_bot ${question}`, { in: group }),
    shown: () => telegram.calls().flatMap(({ method }) => (methods.includes(method) ? [method] : [])),
    until: (what, isSo) => telegram.until(what, () => isSo() || undefined),
    answers: () => room.sent().filter((message) => message.text.endsWith('The end.')).length,
  };
}

function onSlack({ slack }: Stage, isChannel: boolean): Place {
  if (slack === undefined) throw new Error('there is no Slack on this stage');
  const anna = slack.workspace.addUser('anna');
  const channel = slack.workspace.addRoom('channel', { members: [anna.id] });
  const methods = /^chat\.(?:postMessage|update|\w+Stream)$/;
  const whole = new Set<string>();
  return {
    asks: (question) =>
      isChannel ? slack.people.mention(anna, channel, question) : slack.people.dm(anna, question),
    shown: () => slack.calls.all().flatMap(({ method }) => (methods.test(method) ? [method] : [])),
    until: (_, isSo) => slack.calls.until(isSo),
    answers() {
      for (const { message } of slack.changes.all())
        if (message.text.endsWith('The end.')) whole.add(message.ts);
      return whole.size;
    },
  };
}
