import type { LeanPlatform } from '../lean/lean-platform.ts';
import { broughtBy, wantedBy } from './scale-files.ts';

/** How long somebody waited for the answer to what they said at `at` (monotonic milliseconds). */
export type Wait = Readonly<{ chat: number; text: string; at: number; seconds: number }>;

/** Conversations that go on for as long as they are answered. */
export type ScaleLoad = Readonly<{
  /** Messages said so far, by chat: `message 0`, `message 1` and so on. */
  said: ReadonlyMap<number, number>;
  /** Messages that were answered at least once. */
  answered(): number;
  waits: readonly Wait[];
  /** From now on nobody says more than their share of `messages`. Until then everybody does. */
  finish(): void;
  /** Resolves when so many messages were answered, or nothing more comes. */
  reached(count: number): Promise<void>;
  /** Resolves when all were answered after `finish`, or nothing came for `patienceMs`. */
  done: Promise<void>;
}>;

/** Everybody says the next thing as soon as fewer than `ahead` of theirs wait. */
export function startScaleLoad(
  platform: LeanPlatform,
  options: Readonly<{
    conversations: number;
    messages: number;
    ahead: number;
    files: boolean;
    patienceMs: number;
  }>,
): ScaleLoad {
  const { conversations, messages, ahead, files, patienceMs } = options;
  const said = new Map<number, number>();
  const heard = new Map<number, Set<string>>();
  const saidAt = new Map<string, number>();
  const waits: Wait[] = [];
  const reaching = new Set<Readonly<{ count: number; resolve: () => void }>>();
  const state = { said: 0, answered: 0, finishing: false, over: false };
  const impatient = setTimeout(end, patienceMs);

  function reached(count: number): Promise<void> {
    if (state.over || state.answered >= count) return Promise.resolve();
    return new Promise((resolve) => reaching.add({ count, resolve }));
  }

  function resolveReached(): void {
    for (const one of reaching) {
      if (!state.over && state.answered < one.count) continue;
      reaching.delete(one);
      one.resolve();
    }
  }

  function end(): void {
    state.over = true;
    unhear();
    clearTimeout(impatient);
    resolveReached();
  }

  function endIfAll(): void {
    if (state.finishing && state.answered >= state.said) end();
  }

  const unanswered = (chat: number): number => (said.get(chat) ?? 0) - (heard.get(chat)?.size ?? 0);

  function goOn(chat: number): void {
    const most = Math.floor(messages / conversations) + (chat <= messages % conversations ? 1 : 0);
    const goesOn = (spoken: number): boolean => !state.finishing || spoken < most;
    for (let spoken = said.get(chat) ?? 0; goesOn(spoken) && unanswered(chat) < ahead; spoken++) {
      said.set(chat, spoken + 1);
      state.said += 1;
      saidAt.set(`${chat} message ${spoken}`, performance.now());
      const file = files ? wantedBy(spoken) : undefined;
      if (file === undefined) platform.says(chat, `message ${spoken}`);
      else platform.says(chat, `message ${spoken}, send ${file}`, broughtBy(chat, spoken));
    }
  }

  const unhear = platform.onAnswer(({ chat, text, at: answeredAt }) => {
    const texts = heard.get(chat) ?? new Set();
    heard.set(chat, texts);
    if (texts.has(text) || !text.startsWith('message ')) return;
    texts.add(text);
    const at = saidAt.get(`${chat} ${text}`) ?? NaN;
    waits.push({ chat, text, at, seconds: (answeredAt - at) / 1_000 });
    state.answered += 1;
    impatient.refresh();
    goOn(chat);
    resolveReached();
    endIfAll();
  });

  for (let chat = 1; chat <= conversations; chat++) goOn(chat);
  return {
    said,
    waits,
    answered: () => state.answered,
    finish() {
      state.finishing = true;
      endIfAll();
    },
    reached,
    done: reached(Infinity),
  };
}
