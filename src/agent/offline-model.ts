import type Anthropic from '@anthropic-ai/sdk';
import { noTokens, type Model, type ModelAnswer, type ModelRequest } from '../core/model.ts';
import { isSummaryRequest } from './summary-request.ts';
import { argumentsIn, lastLabelled, ownWords, pickScript, pickSkill, skillsIn } from './offline-choice.ts';

/** What the first reply of a conversation says. */
export const noModelNotice =
  'No language model is connected, so all I can do is start a skill whose words match yours. ' +
  'To connect one, set `ANTHROPIC_API_KEY`, or write `[models.default]` with `model` and `base_url` into the config for a local one, and start me again.';

const needsModel =
  'This skill has no script that could be run by itself: its instructions take a language model, and none is connected.';

const needsReader =
  'This skill gives instructions that a language model would follow here, and none is connected.';

/** Tokens: it reads whatever stands in a request, and can summarise none of it. */
const plenty = 1_000_000;

/**
 * Stands in where no language model is configured (M1): deterministic, in no network, and told nothing that a model is
 * not told. As the main agent it starts the visible skill that matches best; in a run it starts the skill's
 * script; the output is its answer. Its first reply in a conversation says what it is.
 */
export function createOfflineModel(alias: string): Model {
  return {
    alias,
    contextWindow: plenty,
    async complete(request, signal, onText) {
      signal.throwIfAborted();
      const answer = reply(request);
      for (const block of answer.content) {
        if (block.type === 'text') for (const piece of block.text.match(/\S+\s*/g) ?? []) onText?.(piece);
      }
      return answer;
    },
  };
}

function reply(request: ModelRequest): ModelAnswer {
  if (isSummaryRequest(request)) return { ...say(request, ''), stopReason: 'refusal' };
  const canUse = new Set(request.tools.map(({ name }) => name));
  const last = request.messages.at(-1);
  const results = blocksOf(last).filter((block) => block.type === 'tool_result');
  if (last !== undefined && [textOf(last), ...results.map(resultText)].some(isToBeFollowed))
    return say(request, needsReader);
  if (results.length > 0)
    return say(request, results.map(isRun(request) ? printedBy : outputOf).join('\n\n'));
  if (isRun(request)) return inRun(request);
  const words = ownWords(textOf(last));
  const output = lastLabelled(textOf(last), 'output');
  if (output !== undefined) return say(request, output);
  const skills = canUse.has('use_skill') ? skillsIn(request) : [];
  const skill = pickSkill(skills, words);
  if (skill !== undefined) return call(request, 'use_skill', { skill, message: words });
  const names = skills.map(({ name }) => `\`${name}\``).join(', ');
  return say(
    request,
    names === '' ? 'I have no skill for that.' : `I have no skill for that. Here I have: ${names}.`,
  );
}

/** A run reads its own skill's files and starts or finds no other; the main agent, narrowed as it may be, finds them. */
function isRun({ tools }: ModelRequest): boolean {
  const names = tools.map(({ name }) => name);
  const findsOthers = ['use_skill', 'skills_list', 'skills_load', 'skills_search'];
  return names.includes('skills_read_file') && !names.some((name) => findsOthers.includes(name));
}

function inRun(request: ModelRequest): ModelAnswer {
  const asked = textOf(request.messages[0]);
  const words = ownWords(asked);
  const path = pickScript(`${request.system.map(({ text }) => text).join('\n')}\n${asked}`, words);
  if (path === undefined || !request.tools.some(({ name }) => name === 'skills_run_script'))
    return say(request, needsModel);
  const given = lastLabelled(asked, 'arguments')?.replace(/^ARGUMENTS: /, '');
  return call(request, 'skills_run_script', { path, args: argumentsIn(given ?? words) });
}

function say(request: ModelRequest, text: string): ModelAnswer {
  const isFirst = !request.messages.some((message) => message.role === 'assistant' && textOf(message) !== '');
  const whole = isFirst && !isRun(request) ? `${noModelNotice}\n\n${text}` : text;
  return answered('end_turn', { type: 'text', text: whole, citations: null });
}

function call(request: ModelRequest, name: string, input: object): ModelAnswer {
  const id = `offline_${request.messages.length}`;
  return answered('tool_use', { type: 'tool_use', id, name, input, caller: { type: 'direct' } });
}

function answered(stopReason: Anthropic.StopReason, block: Anthropic.ContentBlock): ModelAnswer {
  return { content: [block], stopReason, tokens: noTokens, model: 'offline' };
}

/** What a script printed; of one that failed what it said of that. */
function printedBy(result: Anthropic.ToolResultBlockParam): string {
  const text = resultText(result).trim();
  if (result.is_error !== true) return text;
  const [, code = '', rest = text] = /^error ([A-Z_]+): ([^]*)$/.exec(text) ?? [];
  const said = /\[end of stderr\]\n([^]*)$/.exec(rest)?.[1] ?? rest;
  return `That did not work${code === '' ? '' : ` (${code})`}: ${said.trim()}`;
}

/** What a tool gave, out of the envelope that a run's result stands in. */
function outputOf(result: Anthropic.ToolResultBlockParam): string {
  const text = resultText(result);
  return lastLabelled(text, 'output') ?? text.trim();
}

function resultText({ content }: Anthropic.ToolResultBlockParam): string {
  return typeof content === 'string' ? content : (content ?? []).map(textOfBlock).join('\n');
}

/** Holds the instructions of a skill (U8), and no result. */
function isToBeFollowed(text: string): boolean {
  return text.includes('<instruction skill="');
}

function blocksOf(message: Anthropic.MessageParam | undefined): readonly Anthropic.ContentBlockParam[] {
  if (message === undefined) return [];
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

function textOf(message: Anthropic.MessageParam | undefined): string {
  return blocksOf(message).map(textOfBlock).filter(Boolean).join('\n');
}

function textOfBlock(block: Readonly<{ type: string; text?: unknown }>): string {
  return block.type === 'text' && typeof block.text === 'string' ? block.text : '';
}
