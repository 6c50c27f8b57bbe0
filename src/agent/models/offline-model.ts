import type Anthropic from '@anthropic-ai/sdk';
import { isSummaryRequest } from '../plan-compaction.ts';
import { searchSkills } from '../../core/search-skills.ts';
import type { Label } from '../../lib/text/escape-labels.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { withoutEnd } from '../../lib/text/text.ts';
import { noTokens, type Model, type ModelAnswer, type ModelRequest } from '../../core/model.ts';

/** How many characters fit on a screen. */
const longest = 1_500;

export const noModelNotice = `No language model is connected, so I can only run skills that match your words. To connect one: \`${skilletHere()} init\`.`;

const needsModel = 'This skill needs a language model, and none is connected yet.';

const mostNamed = 12;

/** It can't summarise, so its window must never get full. */
const plenty = 1_000_000;

/**
 * Answers if no model is configured (M1): it picks a skill, runs its script, or quotes reference files. It is
 * deterministic and says what it is.
 */
export function createOfflineModel(alias: string): Model {
  return {
    alias,
    contextWindow: plenty,
    sees: false,
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
    return say(request, needsModel);
  if (isRun(request)) return results.length === 0 ? inRun(request) : afterRun(request, results);
  if (results.length > 0) return say(request, results.map(outputOf).join('\n\n'));
  const words = ownWords(textOf(last));
  const output = lastLabelled(textOf(last), 'output');
  if (output !== undefined) return say(request, output);
  const skills = canUse.has('use_skill') ? skillsIn(request) : [];
  const skill = pickSkill(skills, words);
  if (skill !== undefined) return call(request, 'use_skill', { skill, message: words });
  return say(request, whatToTry(skills));
}

function whatToTry(skills: readonly SeenSkill[]): string {
  if (skills.length === 0) return 'No skill can be used here.';
  const lines = skills.map(({ name, description }) =>
    `- \`${name}\`: ${firstSentence(description)}`.trimEnd(),
  );
  const rest = lines.length > mostNamed ? [`- and ${lines.length - mostNamed} more`] : [];
  return [
    'No skill fits these words. These are here. Use one as a command, by its name, with your words after it:',
    '',
    ...lines.slice(0, mostNamed),
    ...rest,
  ].join('\n');
}

function firstSentence(description: string): string {
  return /^.*?[.!?](?=\s|$)/.exec(description)?.[0] ?? description;
}

/** Whether the request is from a run: only the main agent can find skills. */
function isRun({ tools }: ModelRequest): boolean {
  const names = tools.map(({ name }) => name);
  const findsOthers = ['use_skill', 'skills_list', 'skills_load', 'skills_search'];
  return names.includes('skills_read_file') && !names.some((name) => findsOthers.includes(name));
}

function inRun(request: ModelRequest): ModelAnswer {
  const asked = textOf(request.messages[0]);
  // The message of the run itself. Messages of its context name who wrote them.
  const words = /<message>\n([^]*?)\n<\/message>/.exec(asked)?.[1]?.trim() ?? ownWords(asked);
  const listing = `${request.system.map(({ text }) => text).join('\n')}\n${asked}`;
  const path = pickScript(listing, words);
  const has = (tool: string): boolean => request.tools.some(({ name }) => name === tool);
  if (path !== undefined && has('skills_run_script')) {
    const given = lastLabelled(asked, 'arguments')?.replace(/^ARGUMENTS: /, '');
    return call(request, 'skills_run_script', { path, args: argumentsIn(given ?? words) });
  }
  const references = referencesIn(listing);
  if (references.length === 0) return say(request, needsModel);
  return call(request, 'skills_read_file', ...references.map((path) => ({ path })));
}

function afterRun(request: ModelRequest, results: readonly Anthropic.ToolResultBlockParam[]): ModelAnswer {
  const calls = blocksOf(request.messages.at(-2)).filter((block) => block.type === 'tool_use');
  if (!calls.every(({ name }) => name === 'skills_read_file'))
    return say(request, results.map(printedBy).join('\n\n'));
  const files = results.filter((result) => result.is_error !== true).map(resultText);
  return say(request, bestSection(files, ownWords(textOf(request.messages[0]))) ?? needsModel);
}

function say(request: ModelRequest, text: string): ModelAnswer {
  const isFirst = !request.messages.some((message) => message.role === 'assistant' && textOf(message) !== '');
  const whole = isFirst && !isRun(request) ? `${noModelNotice}\n\n${text}` : text;
  return answered('end_turn', textBlock(whole));
}

function textBlock(text: string): Anthropic.TextBlock {
  return { type: 'text', text, citations: null };
}

function call(request: ModelRequest, name: string, ...inputs: readonly object[]): ModelAnswer {
  const id = `offline_${request.messages.length}`;
  const blocks = inputs.map((input, index): Anthropic.ToolUseBlock => ({
    type: 'tool_use',
    id: `${id}_${index}`,
    name,
    input,
    caller: { type: 'direct' },
  }));
  return answered('tool_use', ...blocks);
}

function answered(stopReason: Anthropic.StopReason, ...content: Anthropic.ContentBlock[]): ModelAnswer {
  return { content, stopReason, tokens: noTokens, model: 'offline' };
}

function printedBy(result: Anthropic.ToolResultBlockParam): string {
  const text = resultText(result).trim();
  if (result.is_error !== true) return text;
  const [, code = '', rest = text] = /^error ([A-Z_]+): ([^]*)$/.exec(text) ?? [];
  const said = /\[end of stderr\]\n([^]*)$/.exec(rest)?.[1] ?? rest;
  return `That did not work${code === '' ? '' : ` (${code})`}: ${said.trim()}`;
}

function outputOf(result: Anthropic.ToolResultBlockParam): string {
  const text = resultText(result);
  return lastLabelled(text, 'output') ?? text.trim();
}

function resultText({ content }: Anthropic.ToolResultBlockParam): string {
  return typeof content === 'string' ? content : (content ?? []).map(textOfBlock).join('\n');
}

/** Whether a text is instructions of a skill to follow (U8). */
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

type Section = Readonly<{ heading: string; text: string }>;

export function bestSection(files: readonly string[], words: string): string | undefined {
  const terms = termsOf(words).map((term) => term.replace(/s$/, ''));
  const fit = ({ heading, text }: Section): number =>
    terms.filter((term) => text.toLowerCase().includes(term)).length +
    2 * terms.filter((term) => heading.toLowerCase().includes(term)).length;
  const [best] = files
    .flatMap(sectionsOf)
    .map((section) => ({ section, score: fit(section) }))
    .filter(({ score }) => score > 0)
    // A shorter section says less about other things.
    .sort((a, b) => b.score - a.score || a.section.text.length - b.section.text.length);
  return best && cut(rowsThatFit(best.section, terms));
}

/** Of a table whose heading does not match: its head and the rows that do. */
function rowsThatFit({ heading, text }: Section, terms: readonly string[]): string {
  const fits = (line: string): boolean => terms.some((term) => line.toLowerCase().includes(term));
  const isRow = (line: string): boolean => line.startsWith('|');
  const lines = text.split('\n');
  if (fits(heading) || !lines.some((line) => isRow(line) && fits(line))) return text;
  const isHead = (index: number): boolean => !isRow(lines[index - 1] ?? '') || !isRow(lines[index - 2] ?? '');
  return lines.filter((line, index) => !isRow(line) || isHead(index) || fits(line)).join('\n');
}

function sectionsOf(file: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let fenced = false;
  for (const line of file.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const isHeading = !fenced && /^#{1,6} /.test(line);
    if (isHeading || sections.length === 0) sections.push({ heading: isHeading ? line : '', lines: [line] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections
    .map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }))
    .filter(({ heading, text }) => text !== heading);
}

/** Cuts text at a line end and closes a code block that is open there. */
function cut(text: string): string {
  if (text.length <= longest) return text;
  const lineEnd = text.lastIndexOf('\n', longest);
  const kept = text.slice(0, lineEnd > 0 ? lineEnd : longest);
  const isOpen = (kept.match(/^```/gm) ?? []).length % 2 === 1;
  return `${kept}\n${isOpen ? '```\n' : ''}\n…`;
}

type SeenSkill = Readonly<{ name: string; description: string }>;

/** Skills in the request: names from the tool's enum, descriptions from the catalogue in either format. */
function skillsIn({ system, tools }: ModelRequest): readonly SeenSkill[] {
  const properties = tools.find(({ name }) => name === 'use_skill')?.input_schema.properties;
  const names = (properties as { skill?: { enum?: unknown } } | null | undefined)?.skill?.enum;
  const catalogue = system.map(({ text }) => text).join('\n');
  return (Array.isArray(names) ? names : [])
    .filter((name) => typeof name === 'string')
    .map((name) => ({ name, description: describedIn(catalogue, name) }));
}

function describedIn(catalogue: string, name: string): string {
  const exact = RegExp.escape(name);
  const bullet = new RegExp(`^- [*\`]*${exact}[*\`]*:[ \\t]*(.*)$`, 'm').exec(catalogue);
  const element = new RegExp(`<name>\\s*${exact}\\s*</name>\\s*<description>([^<]*)`).exec(catalogue);
  return (bullet ?? element)?.[1]?.trim() ?? '';
}

/** Picks a skill by the score of R2, without small words. */
function pickSkill(skills: readonly SeenSkill[], words: string): string | undefined {
  const tagless = skills.map((skill) => ({ ...skill, tags: [] }));
  return searchSkills(tagless, termsOf(words).join(' '))[0]?.name;
}

function pickScript(listing: string, words: string): string | undefined {
  const listed = listing.matchAll(/^- (scripts\/\S+\.(?:sh|py|js|mjs|ts))(?=\s|$)/gm);
  const terms = termsOf(words);
  const fit = (path: string): number => terms.filter((term) => path.toLowerCase().includes(term)).length;
  return [...listed].map((match) => match[1] ?? '').toSorted((a, b) => fit(b) - fit(a))[0];
}

function referencesIn(listing: string): readonly string[] {
  return [...listing.matchAll(/^- (references\/\S+\.md)$/gm)].map((match) => match[1] ?? '').slice(0, 10);
}

/** Arguments in a text: quoted parts and words with digits, or else all of it as one argument. */
export function argumentsIn(words: string): readonly string[] {
  const parts = [...words.matchAll(/"([^"]+)"|'([^']+)'|(\S+)/g)].map(([, double, single, bare]) => ({
    text: double ?? single ?? withoutEnd(bare ?? '', '.,;:!?'),
    telling: bare === undefined || /\d|^--?\w/.test(bare),
  }));
  const telling = parts.filter(({ telling }) => telling).map(({ text }) => text);
  if (telling.length > 0) return telling;
  // Nothing follows a bare command such as `/dice` (I6).
  return /^\s*(?:Run [\w-]+\.\s*)?$/.test(words) ? [] : [words.trim()];
}

/** The text of the last `<message>`, or what is outside of all labels. */
export function ownWords(text: string): string {
  const labelled = lastLabelled(text, 'message');
  if (labelled !== undefined) return labelled;
  return text
    .replace(/<(host|background|quote|context|arguments|instruction|output)\b[^>]*>\n[^]*?\n<\/\1>/g, '')
    .trim();
}

function lastLabelled(text: string, label: Label): string | undefined {
  const found = [...text.matchAll(new RegExp(`<${label}(?: [^>]*)?>\\n([^]*?)\\n</${label}>`, 'g'))];
  return found.at(-1)?.[1]?.trim();
}

const smallWords = new Set(
  'the and for you can could please with what who how why when where this that these those are was were will would have has had does did not but from into about your our his her its they them there here then than some any all one out use make give tell get want need let put see say now just also only very'.split(
    ' ',
  ),
);

/** The words of a text in lower case, without small ones. */
function termsOf(words: string): readonly string[] {
  const found = words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(found)].filter((term) => term.length > 2 && !smallWords.has(term));
}
