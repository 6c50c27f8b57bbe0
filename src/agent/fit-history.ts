import { hash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import { unparsedInput } from '../core/entry.ts';

type Block = Anthropic.ContentBlock;

const validId = /^[a-zA-Z0-9_-]{1,64}$/;
const validName = /^[a-zA-Z0-9_-]{1,128}$/;

/** The fields that the Messages API accepts of each kind of block. A server may have added others. */
const fields: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['type', 'text', 'citations']],
  ['thinking', ['type', 'thinking', 'signature']],
  ['redacted_thinking', ['type', 'data']],
  ['tool_use', ['type', 'id', 'name', 'input', 'caller']],
]);

/**
 * Makes what one model answered acceptable to every other model (M18): valid ids and names, objects as inputs, no
 * unknown blocks. `tools` are names to find within a longer one, as in `functions.dice`. Blocks that fit stay the same
 * objects.
 */
export function fitBlocks(content: readonly Block[], tools: readonly string[] = []): readonly Block[] {
  return content.flatMap((block) => {
    if (isServerTool(block)) return [block];
    const known = fields.get(block.type);
    if (known === undefined) return [];
    const only = Object.keys(block).every((key) => known.includes(key))
      ? block
      : (Object.fromEntries(
          Object.entries(block).filter(([key]) => known.includes(key)),
        ) as unknown as Block);
    if (only.type === 'text') return typeof only.text === 'string' ? [only] : [];
    return only.type === 'tool_use' ? [fitCall(only, tools)] : [only];
  });
}

function fitCall(call: Anthropic.ToolUseBlock, tools: readonly string[]): Anthropic.ToolUseBlock {
  const id = fitCallId(call.id);
  const name = fitName(call.name, tools);
  const input = fitInput(call.input);
  return id === call.id && name === call.name && input === call.input ? call : { ...call, id, name, input };
}

/** A valid id for a call. It is the same for the same id, and never that of another call. */
export function fitCallId(id: unknown): string {
  if (typeof id !== 'string' || id === '') return 'call';
  return validId.test(id) ? id : `call_${hash('sha256', id).slice(0, 32)}`;
}

function fitName(name: unknown, tools: readonly string[]): string {
  const given = typeof name === 'string' ? name : '';
  if (tools.includes(given)) return given;
  const last = given.split(/[.:/\s]+/).findLast((part) => part !== '') ?? '';
  if (tools.includes(last)) return last;
  return validName.test(given) ? given : given.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** The input of a call as an object. JSON text of an object, written once or twice, becomes that object. */
export function fitInput(input: unknown): object {
  const object = asObject(input);
  if (object !== undefined) return object;
  if (input === undefined || input === null || input === '') return {};
  const written = typeof input === 'string' ? input : JSON.stringify(input);
  return objectIn(written) ?? unparsedInput(written);
}

function objectIn(written: string): object | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return asObject(typeof value === 'string' ? JSON.parse(value) : value);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Whether a block is a call of one of the server's own tools, or its result. */
export function isServerTool({ type }: Readonly<{ type: string }>): boolean {
  return type === 'server_tool_use' || (type.endsWith('_tool_result') && type !== 'tool_result');
}

/** Words by which other protocols name the reasons for an end. */
const meant: ReadonlyMap<string | undefined, Anthropic.StopReason> = new Map([
  ['length', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

const before: readonly string[] = ['max_tokens', 'refusal', 'model_context_window_exceeded'];
const whole: readonly string[] = ['end_turn', 'stop_sequence', 'pause_turn'];

/**
 * Why an answer ended. Its content counts more than the server's word: if it contains a whole call, it ended with a
 * call (M19).
 */
export function stopReasonOf(content: readonly Block[], said: string | undefined): Anthropic.StopReason {
  const reason = meant.get(said) ?? said ?? '';
  if (before.includes(reason)) return reason as Anthropic.StopReason;
  if (content.some(({ type }) => type === 'tool_use')) return 'tool_use';
  return whole.includes(reason) ? (reason as Anthropic.StopReason) : 'end_turn';
}
