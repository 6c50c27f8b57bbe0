import type { MessagesRequest } from '../test/servers/messages/request-shape.ts';
import type { ServerStep } from '../test/servers/messages/answer.ts';
import { openStage } from './stage.ts';

export type SettingsTimes = Readonly<{
  name: string;
  /** Milliseconds from the first request to the first words of the model that the person sees. */
  firstWords: readonly number[];
  /** Until the whole answer is there. */
  whole: readonly number[];
  /** Tokens that the model wrote for one answer, thinking included. */
  written: number;
}>;

const contenders = [
  { name: 'new: between_tools, medium', config: '' },
  { name: 'old: adaptive, high', config: 'thinking = "adaptive"\neffort = "high"\n' },
] as const;

/**
 * Pieces of thinking before an answer. They are an assumption: a scripted server shows what settings do to a person's
 * wait, not how long a real model thinks.
 */
const pieces: Readonly<Record<string, number>> = { low: 10, medium: 40, high: 100 };
const piece = 'A thought of some words. ';
const words = 'I look for a skill that does this, one moment.';
const answer = `${'There is such a skill, and it says this. '.repeat(20)}The end.`;
const dripMs = 15;

/** A turn with one call, with the settings for a chat and with those of the API, side by side. */
export async function measureSettings(turns: number): Promise<readonly SettingsTimes[]> {
  const measured: SettingsTimes[] = [];
  for (const { name, config } of contenders) {
    const stage = await openStage({ bot: 'skillet', modelMs: 0, config, script: thinkAndCall });
    const { telegram, messages } = stage;
    const person = telegram.person();
    const methods = ['sendMessage', 'sendMessageDraft', 'editMessageText'];
    const shown = (what: string): number =>
      telegram
        .calls()
        .filter(({ method, args }) => methods.includes(method) && JSON.stringify(args).includes(what)).length;
    const firstWords: number[] = [];
    const whole: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const first = messages.requests.length;
      const before = shown('one moment') + shown('such a skill');
      const ends = () => person.dm.sent().filter(({ text }) => text.endsWith('The end.')).length;
      person.says(`question ${turn}`);
      await telegram.until('words', () => shown('one moment') + shown('such a skill') > before || undefined);
      const began = messages.requests[first]?.arrivedAt ?? 0;
      firstWords.push(performance.now() - began);
      await telegram.until('the answer', () => ends() > turn || undefined);
      whole.push(performance.now() - began);
    }
    const written = messages.requests.slice(0, 2).reduce((sum, { body }) => sum + tokensOf(body), 0);
    measured.push({ name, firstWords, whole, written });
    await stage.close();
  }
  return measured;
}

function thinkAndCall(body: MessagesRequest): ServerStep {
  return { content: contentFor(body), wire: { dripMs, pings: false } };
}

function contentFor(body: MessagesRequest) {
  const last = JSON.stringify(body.messages.at(-1));
  const isAnswer = last.includes('tool_result');
  const between = body.thinking?.type === 'between_tools';
  const thinking = piece.repeat(pieces[body.output_config?.effort ?? 'high'] ?? 0);
  return [
    // With `between_tools` the model thinks behind a result, but not before its first words.
    ...(between && !isAnswer ? [] : [{ type: 'thinking' as const, thinking }]),
    { type: 'text' as const, text: isAnswer ? answer : words },
    ...(isAnswer
      ? []
      : [{ type: 'tool_use' as const, name: 'skills_search', input: { query: 'such a skill' } }]),
  ];
}

function tokensOf(body: MessagesRequest): number {
  return Math.ceil(JSON.stringify(contentFor(body)).length / 4);
}
