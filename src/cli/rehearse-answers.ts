import { pricesOf } from '../config/model-prices.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { addTokens, noTokens, resolveModel, type ModelSettings, type Tokens } from '../core/model.ts';
import { nearest, oneLine } from '../lib/text/text.ts';
import { costOf } from '../limits/costs.ts';
import type { RehearsedCall } from '../operator/rehearse/answer-from-record.ts';
import { wordsInTurn, type TurnSample } from '../operator/rehearse/recorded-turns.ts';
import { safeLine } from '../channels/terminal/from-markdown.ts';
import { askBot } from './ask-bot.ts';
import { sinceWhen } from './audit.ts';
import type { SharedOptions } from './command.ts';
import {
  agree,
  inMinutes,
  isYes,
  print,
  printJson,
  printText,
  terminalWidth,
  untilInterrupted,
} from './console.ts';
import { openConfig } from './open-config.ts';
import { openLog } from './open-log.ts';
import { sideBySide } from './side-by-side.ts';
import { writtenApprovals } from './skills-here.ts';

type Given = SharedOptions &
  Readonly<{ since: string; model: string; sample: number; private?: boolean; yes?: boolean }>;

/** Exit code if the sample is not answered whole: a turn failed, or a call is not in the record. */
const incomplete = 3;
const longestQuestion = 500;

type Side = Readonly<{ text: string; model: string; tokens: Tokens; usd: number | undefined }>;
type Pair = Readonly<{
  at: number;
  who: string;
  where: string;
  question: string;
  before: Side & Readonly<{ calls: readonly string[] }>;
  after: Side & Readonly<{ calls: readonly RehearsedCall[]; fault?: string | undefined }>;
}>;

/**
 * Answers a sample of recorded turns again with a model of the new config, and shows both answers (L20). Tools are
 * answered from the record. Exit code 1 without a sample, 2 without a yes.
 */
export async function rehearseAnswers(given: Given): Promise<void> {
  const { config: flag, json = false, model, sample: most } = given;
  const since = sinceWhen(given.since, Date.now());
  const config = await openConfig(flag);
  const settings = modelOf(config, model);
  const sample = await askBot(undefined, 'rehearse sample', { since, most, private: given.private === true });
  const { turns, of } = sample;
  const leftOut = Object.entries(sample.leftOut).map(([why, count]) => `Left out: ${count} ${why}.`);
  const from = `since ${since.slice(0, 16)}Z`;
  if (turns.length === 0)
    throw new OperatorError([`No turn ${from} can be answered again.`, ...leftOut].join('\n'));
  if (!json) printText([`Chosen: ${turns.length} of ${some(of, 'turn')} ${from}.`, ...leftOut].join('\n'));
  const answer = await agree(questionOf(sample, config, { model, settings }), given.yes === true);
  const words = { unasked: 'There is nobody to ask here: add --yes.', no: 'Nothing was sent.' };
  if (!isYes(answer, words)) return;
  const pairs = await answerAll(sample, { given, config, settings });
  const sums = sumsOf(pairs, turns.length);
  if (sums.failed + sums.missing + sums.unasked > 0) process.exitCode = incomplete;
  if (json) return printJson({ since, of, leftOut: sample.leftOut, turns: pairs, ...sums });
  for (const line of total(sums)) printText(line);
}

type By = Readonly<{ given: Given; config: Config; settings: ModelSettings }>;

/** Answers one turn after the other, and shows each at once. Ctrl-C ends it with those that are answered. */
async function answerAll({ turns, known }: TurnSample, by: By): Promise<readonly Pair[]> {
  const { given, config, settings } = by;
  const { withAnswerer } = await import('./answer-again.ts');
  using interrupted = untilInterrupted(new OperatorError('stopped'));
  const { signal } = interrupted;
  const pairs: Pair[] = [];
  const { model, config: flag } = given;
  const approvals = () => writtenApprovals(config, flag);
  const answerer = { config, model, approvals, log: openLog(config, 'error').log };
  await withAnswerer(answerer, known, async ({ answer }) => {
    for (const turn of turns) {
      const { transcript, item, at, who, tokens } = turn;
      const asked = { transcript, item, private: given.private === true };
      const recorded = signal.aborted ? undefined : await askBot(undefined, 'rehearse turn', asked);
      // It is gone if somebody was forgotten meanwhile, for example.
      if (recorded === undefined) continue;
      const { question, answer: text, calls } = wordsInTurn(recorded);
      const after = await answer(turn, recorded, signal);
      pairs.push({
        ...{ at, who: who.sender, where: `${who.channel}:${who.chat}`, question },
        before: { text, model: turn.model, tokens, usd: costThen(config, turn), calls },
        after: { ...after, model: settings.model, usd: costOf(config, model, after.tokens) },
      });
      if (given.json !== true) show(pairs, turns.length);
    }
  });
  return pairs;
}

function modelOf({ models }: Config, name: string): ModelSettings {
  const found = resolveModel(models, name);
  if (found !== undefined) return found;
  const names = Object.keys(models.aliases);
  const near = nearest(name, names);
  const help =
    names.length === 0
      ? 'the new config has no [models]'
      : near.length > 0
        ? `did you mean ${near.join(' or ')}?`
        : `there are ${names.join(', ')}`;
  throw new OperatorError(`--model ${name}: no alias under [models] is called that: ${help}`);
}

/** What the tokens of a turn cost at list prices, or by the new config if it has this model. */
function costThen(config: Config, { model, tokens }: TurnSample['turns'][number]) {
  const { aliases } = config.models;
  const alias = Object.keys(aliases).find((name) => aliases[name]?.model === model);
  if (alias !== undefined) return costOf(config, alias, tokens);
  const prices = pricesOf({ model });
  const models = { aliases: { [model]: { model } } };
  return prices && costOf({ ...config, models }, model, tokens);
}

function questionOf(
  { turns }: TurnSample,
  config: Config,
  { model, settings }: Readonly<{ model: string; settings: ModelSettings }>,
): string {
  const tokens = turns.reduce((sum, turn) => addTokens(sum, turn.tokens), noTokens);
  const { input, cacheRead, cacheWrite, output } = tokens;
  // Nothing of it is in the cache of the new model yet.
  const usd = costOf(config, model, { ...noTokens, input: input + cacheRead + cacheWrite, output });
  const hidden = turns.filter(({ isPrivate }) => isPrivate).length;
  const at = settings.baseUrl === undefined ? '' : ` at ${settings.baseUrl}`;
  return [
    `This sends their conversations to ${model} (${settings.model}${at}), and shows questions and answers here.`,
    ...(hidden === 0
      ? []
      : [` ${some(hidden, 'turn')} of them hold words of direct messages or private data.`]),
    ` By the tokens of that time it costs about ${dollars(usd)}, which counts against no budget. Answer them again?`,
  ].join('');
}

function show(pairs: readonly Pair[], most: number): void {
  const pair = pairs.at(-1);
  if (pair === undefined) return;
  const { at, who, where, question, before, after } = pair;
  print(`\n${pairs.length} of ${most}: ${who} in ${where}, ${inMinutes(at)}`);
  printText(`> ${oneLine(safeLine(question), longestQuestion)}`);
  const calls = after.calls.map(({ name, isRecorded }) =>
    isRecorded ? name : `${name} (not in the record)`,
  );
  const rows = sideBySide(
    columnOf(before, before.calls, before.text),
    columnOf(
      after,
      calls,
      after.fault === undefined ? after.text : `${after.text}\n[no whole answer: ${after.fault}]`,
    ),
    terminalWidth(),
  );
  for (const row of rows) print(row);
}

function columnOf({ model, tokens, usd }: Side, calls: readonly string[], text: string): string {
  const head = `${model}: ${countOf(tokens)} tokens, ${dollars(usd)}`;
  return [head, ...(calls.length === 0 ? [] : [`calls: ${calls.join(', ')}`]), '', text.trim()].join('\n');
}

type Sums = Readonly<{
  answered: number;
  failed: number;
  /** Turns that were gone, or that were not reached before Ctrl-C. */
  unasked: number;
  /** Calls that the record does not hold. */
  missing: number;
  before: Readonly<{ tokens: number; usd: number | undefined }>;
  after: Readonly<{ tokens: number; usd: number | undefined }>;
}>;

function sumsOf(pairs: readonly Pair[], most: number): Sums {
  const failed = pairs.filter(({ after }) => after.fault !== undefined).length;
  const sum = (sides: readonly Side[]): Sums['before'] => ({
    tokens: sides.reduce((all, { tokens }) => all + countOf(tokens), 0),
    usd: sides.reduce<number | undefined>(
      (all, { usd }) => (all === undefined || usd === undefined ? undefined : all + usd),
      0,
    ),
  });
  return {
    ...{ answered: pairs.length - failed, failed, unasked: most - pairs.length },
    missing: pairs.flatMap(({ after }) => after.calls).filter(({ isRecorded }) => !isRecorded).length,
    before: sum(pairs.map(({ before }) => before)),
    after: sum(pairs.map(({ after }) => after)),
  };
}

function total({ answered, failed, unasked, missing, before, after }: Sums): readonly string[] {
  return [
    `\nAnswered again: ${some(answered, 'turn')}; ${failed} without a whole answer, ${unasked} not asked. ${some(missing, 'call')} ${missing === 1 ? 'was' : 'were'} not in the record.`,
    `In all: ${before.tokens} tokens, ${dollars(before.usd)} then; ${after.tokens} tokens, ${dollars(after.usd)} now. Runs of skills are in neither.`,
  ];
}

function countOf({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function dollars(usd: number | undefined): string {
  return usd === undefined ? 'price unknown' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
